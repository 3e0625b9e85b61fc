#include "kernels/linear.h"

#include <ATen/ATen.h>
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

class EveryActivation : public testing::TestWithParam<Case> {};

TEST_P(EveryActivation, AgreesWithTheFormulaWithScaleAndResidual) {
  at::manual_seed(3);
  const at::Tensor x = at::randn({2, 5, 8});
  const Weight weight{at::randn({6, 8}), at::randn({6})};
  const at::Tensor scale = at::randn({6});
  const at::Tensor residual = at::randn({2, 5, 6});
  const at::Tensor before = residual.clone();
  const at::Tensor y = linear(x, weight, {GetParam().activation, scale, residual});

  at::Tensor expected = at::matmul(x.to(at::kDouble), weight.weight.to(at::kDouble).t()) +
                        weight.bias.to(at::kDouble);
  double* values = expected.data_ptr<double>();
  for (std::int64_t i = 0; i < expected.numel(); ++i) values[i] = GetParam().formula(values[i]);
  expected = residual.to(at::kDouble) + scale.to(at::kDouble) * expected;
  EXPECT_LT((y.to(at::kDouble) - expected).abs().max().item<double>(), 1e-5);
  EXPECT_TRUE(at::equal(residual, before)) << "the residual belongs to the caller";
}

INSTANTIATE_TEST_SUITE_P(Linear, EveryActivation, testing::ValuesIn(kCases),
                         [](const auto& info) { return std::string(info.param.name); });

TEST(Linear, WorksWithoutBias) {
  const at::Tensor x = at::ones({3, 4});
  const at::Tensor y = linear(x, {at::full({2, 4}, 0.5), {}});
  EXPECT_TRUE(at::equal(y, at::full({3, 2}, 2.0)));
}

}  // namespace
}  // namespace vitascope::kernels
