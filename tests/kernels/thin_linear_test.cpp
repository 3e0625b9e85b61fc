#include "kernels/thin_linear.h"

#include <ATen/ATen.h>
#include <c10/core/InferenceMode.h>
#include <gtest/gtest.h>

#include <cstdlib>

#include "kernels/cpu/isa.h"

namespace vitascope::kernels {
namespace {

/// residual + x W^T + b in float64.
at::Tensor formula(const at::Tensor& x, const Weight& weight, const at::Tensor& residual = {}) {
  at::Tensor y = at::matmul(x.to(at::kDouble), weight.weight.to(at::kDouble).t());
  if (weight.bias.defined()) y = y + weight.bias.to(at::kDouble);
  return residual.defined() ? y + residual.to(at::kDouble) : y;
}

/// Within what float32 may lose in a sum of so many products, in any order (Higham 2002, Accuracy
/// and Stability of Numerical Algorithms, 3.1); a number left out would be far more.
void expect_near(const at::Tensor& got, const at::Tensor& x, const Weight& weight,
                 const at::Tensor& residual = {}) {
  const at::Tensor exact = formula(x, weight, residual);
  ASSERT_EQ(got.sizes(), exact.sizes());
  const auto magnitude = [](const at::Tensor& y) { return y.defined() ? y.abs() : y; };
  const at::Tensor most =
      formula(x.abs(), {.weight = weight.weight.abs(), .bias = magnitude(weight.bias)},
              magnitude(residual));
  const double rounding = static_cast<double>(x.size(-1) + 2) * 0x1p-24;
  EXPECT_TRUE((got.to(at::kDouble) - exact).abs().le(most * rounding).all().item<bool>());
}

class ThinLinear : public testing::TestWithParam<cpu::Isa> {
 protected:
  void SetUp() override { setenv("VITASCOPE_CPU_ISA", cpu::isa_name(GetParam()), 1); }
  void TearDown() override { unsetenv("VITASCOPE_CPU_ISA"); }

  const c10::InferenceMode guard_;
};

/// Every number of rows that has code of its own, and more; inputs below, at and between multiples
/// of every vector; enough outputs for several threads.
TEST_P(ThinLinear, IsTheFormula) {
  for (std::int64_t rows = 1; rows <= 10; ++rows) {
    for (const std::int64_t inputs : {1, 3, 8, 19, 64, 515}) {
      at::manual_seed(rows * 1000 + inputs);
      const at::Tensor x = at::randn({rows, inputs});
      const Weight weight{.weight = at::randn({300, inputs}), .bias = at::randn({300})};
      SCOPED_TRACE(testing::Message() << rows << " rows of " << inputs);
      expect_near(thin_linear(x, weight), x, weight);
    }
  }
}

TEST_P(ThinLinear, AddsAResidualWorksWithoutBiasAndKeepsTheShape) {
  at::manual_seed(1);
  const at::Tensor x = at::randn({5, 2, 3}).transpose(0, 2);  // [3, 2, 5], no row in one piece
  const Weight weight{.weight = at::randn({4, 5})};
  const at::Tensor residual = at::randn({3, 2, 4});
  expect_near(thin_linear(x, weight, residual), x, weight, residual);
}

TEST_P(ThinLinear, PackedAndOtherPrecisionsAreLinears) {
  at::manual_seed(2);
  const at::Tensor x = at::randn({3, 16});
  const Weight weight{.weight = at::randn({8, 16})};
  expect_near(thin_linear(x, {.weight = pack(weight.weight)}), x, weight);
  const at::Tensor exact = x.to(at::kDouble);
  EXPECT_EQ(thin_linear(exact, {.weight = weight.weight.to(at::kDouble)}).scalar_type(),
            at::kDouble);
}

INSTANTIATE_TEST_SUITE_P(Isas, ThinLinear, testing::ValuesIn(cpu::available_isas()),
                         [](const auto& isa) { return cpu::isa_name(isa.param); });

TEST(ThinLinearFormula, GivesGradientsWhereTheyAreWanted) {
  const at::Tensor x = at::ones({2, 3});
  const Weight weight{.weight = at::full({4, 3}, 0.5).requires_grad_()};
  thin_linear(x, weight).sum().backward();
  EXPECT_TRUE(at::equal(weight.weight.grad(), at::full({4, 3}, 2.0)));
}

}  // namespace
}  // namespace vitascope::kernels
