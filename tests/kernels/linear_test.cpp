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

TEST(Linear, APackedWeightRefusesGradients) {
  const at::Tensor x = at::ones({3, 4}).requires_grad_();
  const Weight weight{pack(at::ones({2, 4})), {}};
  EXPECT_THROW(linear(x, weight), c10::Error);
  const c10::InferenceMode guard;
  EXPECT_NO_THROW(linear(x, weight));
}

}  // namespace
}  // namespace vitascope::kernels
