#include "kernels/additive_scores.h"

#include <ATen/ATen.h>
#include <c10/util/Exception.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <limits>

#include "kernels/cpu/isa.h"
#include "tests/kernels/largest_difference.h"

namespace vitascope::kernels {
namespace {

using tests::largest_difference;

/// v^T tanh(q + k) in float64.
at::Tensor formula(const at::Tensor& queries, const at::Tensor& keys, const at::Tensor& v) {
  const at::Tensor sums = queries.to(at::kDouble).unsqueeze(2) + keys.to(at::kDouble).unsqueeze(1);
  return at::matmul(sums.tanh(), v.to(at::kDouble));
}

/// tanh is within 2e-7, and so is what the rounding of q + k, at most 6 here, adds to it.
double allowed(const at::Tensor& v) { return 5e-7 * v.abs().sum().item<double>(); }

class AdditiveScores : public testing::TestWithParam<cpu::Isa> {
 protected:
  void SetUp() override { setenv("VITASCOPE_CPU_ISA", cpu::isa_name(GetParam()), 1); }
  void TearDown() override { unsetenv("VITASCOPE_CPU_ISA"); }
};

/// Widths below, at and between multiples of every vector; enough keys for several threads.
TEST_P(AdditiveScores, AreThoseOfTheFormula) {
  for (const std::int64_t width : {1, 3, 4, 8, 15, 16, 29, 512}) {
    at::manual_seed(width);
    const at::Tensor q = at::randn({2, 3, width}), k = at::randn({2, 53, width});
    const at::Tensor v = at::randn({width});
    const at::Tensor scores = additive_scores(q, k, v);
    ASSERT_EQ(scores.sizes(), at::IntArrayRef({2, 3, 53}));
    EXPECT_LE(largest_difference(scores, formula(q, k, v)), allowed(v)) << "width " << width;
  }
}

TEST_P(AdditiveScores, ReadViews) {
  at::manual_seed(1);
  const at::Tensor q = at::randn({2, 20, 3}).transpose(1, 2);
  const at::Tensor k = at::randn({1, 5, 20}).expand({2, 5, 20});
  const at::Tensor v = at::randn({2, 20}).t().select(1, 0);
  EXPECT_LE(largest_difference(additive_scores(q, k, v), formula(q, k, v)), allowed(v));
}

TEST_P(AdditiveScores, SmallSumsKeepTheirPrecision) {
  const at::Tensor q = at::tensor({-1e-3f, -1e-5f, 0.f, 1e-5f, 1e-3f}).view({1, 5, 1});
  const at::Tensor zero = at::zeros({1, 1, 1}), one = at::ones({1});
  EXPECT_LE(largest_difference(additive_scores(q, zero, one), formula(q, zero, one)), 1e-7);
}

TEST_P(AdditiveScores, LargeSumsSaturateAndNothingHidesNaN) {
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  const at::Tensor q = at::tensor({-kInfinity, -1e30f, -50.f, 50.f, 1e30f, kInfinity,
                                   std::numeric_limits<float>::quiet_NaN()})
                           .view({1, 7, 1});
  const at::Tensor scores = additive_scores(q, at::zeros({1, 1, 1}), at::ones({1})).flatten();
  EXPECT_TRUE(at::equal(scores.narrow(0, 0, 6), at::tensor({-1.f, -1.f, -1.f, 1.f, 1.f, 1.f})));
  EXPECT_TRUE(scores[6].isnan().item<bool>());
}

INSTANTIATE_TEST_SUITE_P(Isas, AdditiveScores, testing::ValuesIn(cpu::available_isas()),
                         [](const auto& isa) { return cpu::isa_name(isa.param); });

TEST(AdditiveScoresFormula, GivesGradientsWhereTheyAreWanted) {
  at::manual_seed(2);
  const at::Tensor q = at::randn({1, 2, 5}, at::kDouble).requires_grad_();
  const at::Tensor single = q.detach().to(at::kFloat).requires_grad_();
  const at::Tensor k = at::randn({1, 4, 5}), v = at::randn({5});
  formula(q, k, v).sum().backward();
  additive_scores(single, k, v).sum().backward();
  EXPECT_LE(largest_difference(single.grad(), q.grad()), 1e-5);
}

TEST(AdditiveScoresFormula, SaysWhichShapesDoNotFit) {
  EXPECT_THROW(additive_scores(at::ones({1, 2, 5}), at::ones({1, 4, 6}), at::ones({5})),
               c10::Error);
  EXPECT_THROW(additive_scores(at::ones({1, 2, 5}), at::ones({2, 4, 5}), at::ones({5})),
               c10::Error);
}

}  // namespace
}  // namespace vitascope::kernels
