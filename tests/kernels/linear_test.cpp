#include "kernels/linear.h"

#include <ATen/ATen.h>
#include <c10/core/InferenceMode.h>
#include <gtest/gtest.h>

#include <cmath>
#include <functional>

namespace vitascope::kernels {
namespace {

struct Case {
  const char* name;
  Activation activation;
  std::function<double(double)> formula;
};

const Case kCases[] = {
    {"none", Activation::none, [](double x) { return x; }},
    {"gelu", Activation::gelu, [](double x) { return x / 2 * (1 + std::erf(x / std::sqrt(2.0))); }},
    {"gelu_tanh", Activation::gelu_tanh,
     [](double x) {
       return x / 2 * (1 + std::tanh(std::sqrt(2 / M_PI) * (x + 0.044715 * x * x * x)));
     }},
    {"quick_gelu", Activation::quick_gelu, [](double x) { return x / (1 + std::exp(-1.702 * x)); }},
    {"relu", Activation::relu, [](double x) { return x > 0 ? x : 0; }},
    {"silu", Activation::silu, [](double x) { return x / (1 + std::exp(-x)); }}};

class EveryActivation : public testing::TestWithParam<std::tuple<Case, bool>> {};

TEST_P(EveryActivation, AgreesWithTheFormulaWithScaleAndResidual) {
  const auto& [item, packed] = GetParam();
  at::manual_seed(3);
  const at::Tensor x = at::randn({2, 5, 8});
  const Weight weight{at::randn({6, 8}), at::randn({6})};
  const at::Tensor scale = at::randn({6});
  const at::Tensor residual = at::randn({2, 5, 6});
  const at::Tensor before = residual.clone();
  const Weight used{packed ? pack(weight.weight) : weight.weight, weight.bias};
  EXPECT_EQ(used.weight.is_mkldnn(), packed);
  const at::Tensor y = linear(x, used, {item.activation, scale, residual});

  at::Tensor expected = at::matmul(x.to(at::kDouble), weight.weight.to(at::kDouble).t()) +
                        weight.bias.to(at::kDouble);
  double* values = expected.data_ptr<double>();
  for (std::int64_t i = 0; i < expected.numel(); ++i) values[i] = item.formula(values[i]);
  expected = residual.to(at::kDouble) + scale.to(at::kDouble) * expected;
  EXPECT_LT((y.to(at::kDouble) - expected).abs().max().item<double>(), 1e-5);
  EXPECT_TRUE(at::equal(residual, before)) << "the residual belongs to the caller";
}

std::string case_name(const testing::TestParamInfo<EveryActivation::ParamType>& info) {
  const auto& [item, packed] = info.param;
  return std::string(item.name) + (packed ? "_packed" : "_plain");
}

INSTANTIATE_TEST_SUITE_P(Linear, EveryActivation,
                         testing::Combine(testing::ValuesIn(kCases), testing::Bool()), case_name);

TEST(Linear, WorksWithoutBias) {
  const at::Tensor x = at::ones({3, 4});
  const at::Tensor y = linear(x, {at::full({2, 4}, 0.5), {}});
  EXPECT_TRUE(at::equal(y, at::full({3, 2}, 2.0)));
  EXPECT_TRUE(at::equal(linear(x, {pack(at::full({2, 4}, 0.5)), {}}), y));
}

TEST(Linear, PackedBfloat16StaysWithinItsRounding) {
  at::manual_seed(4);
  const at::Tensor x = at::randn({7, 64}).to(at::kBFloat16);
  const at::Tensor weight = at::randn({32, 64}).to(at::kBFloat16);
  const at::Tensor y = linear(x, {pack(weight), {}});
  ASSERT_EQ(y.scalar_type(), at::kBFloat16);
  const at::Tensor exact = at::matmul(x.to(at::kDouble), weight.to(at::kDouble).t());
  const at::Tensor spacing = exact.abs() / 128 + 1e-3;  // 8 bits of significand
  EXPECT_TRUE((y.to(at::kDouble) - exact).abs().lt(spacing).all().item<bool>());
}

/// Where a processor has no such product (bfloat16 without AVX-512) weights stay as they are.
TEST(Linear, WhatCannotBePackedStaysPlainAndIsMultipliedAllTheSame) {
  for (const at::ScalarType type : {at::kFloat, at::kBFloat16, at::kHalf, at::kDouble}) {
    const at::Tensor weight = at::ones({16, 16}, type), packed = pack(weight);
    EXPECT_EQ(packed.is_mkldnn(), has_product(type)) << type;
    EXPECT_EQ(linear(at::ones({1, 16}, type), {packed, {}})[0][0].item<double>(), 16) << type;
  }
  EXPECT_TRUE(has_product(at::kFloat));
}

TEST(Linear, APackedWeightRefusesGradients) {
  const at::Tensor x = at::ones({3, 4}).requires_grad_();
  const Weight weight{pack(at::ones({2, 4})), {}};
  EXPECT_THROW(linear(x, weight), c10::Error);
  const c10::InferenceMode guard;
  EXPECT_NO_THROW(linear(x, weight));
}

/// Of a sum with random weights, beside the formulas in float64.
TEST(Linear, GradientsOfTrainingAreThoseOfTheFormula) {
  for (const at::ScalarType type : {at::kFloat, at::kBFloat16}) {
    for (const bool with_bias : {true, false}) {
      for (const bool frozen : {false, true}) {
        at::manual_seed(5);
        const at::Tensor x = at::randn({3, 37, 24}).to(type).set_requires_grad(true);
        Weight weight{at::randn({40, 24}).to(type).set_requires_grad(!frozen)};
        if (frozen) {  // as LoRA has it; additions of 0
          weight.down = at::zeros({2, 24}).to(type);
          weight.up = at::zeros({40, 2}).to(type);
        }
        if (with_bias) weight.bias = at::randn({40}).to(type).set_requires_grad(!frozen);
        const at::Tensor dy = at::randn({3, 37, 40}).to(type);
        const at::Tensor y = linear(x, weight);
        (y * dy).sum().backward();

        const double limit = type == at::kFloat ? 1e-6 : 1e-2;
        const auto expect_near = [&](const at::Tensor& got, const at::Tensor& expected) {
          EXPECT_LT((got.detach().to(at::kDouble) - expected).norm().item<double>(),
                    limit * expected.norm().item<double>());
        };
        const at::Tensor exact_x = x.detach().to(at::kDouble).flatten(0, 1);
        const at::Tensor exact_w = weight.weight.detach().to(at::kDouble);
        const at::Tensor exact_dy = dy.to(at::kDouble).flatten(0, 1);
        at::Tensor exact_y = exact_x.mm(exact_w.t());
        if (with_bias) exact_y = exact_y + weight.bias.detach().to(at::kDouble);
        expect_near(y.flatten(0, 1), exact_y);
        expect_near(x.grad().flatten(0, 1), exact_dy.mm(exact_w));
        EXPECT_EQ(weight.weight.grad().defined(), !frozen);
        if (frozen) continue;
        expect_near(weight.weight.grad(), exact_dy.t().mm(exact_x));
        if (with_bias) expect_near(weight.bias.grad(), exact_dy.sum(0));
      }
    }
  }
}

}  // namespace
}  // namespace vitascope::kernels
