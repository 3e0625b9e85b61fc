#include "vit/train/ridge.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <stdexcept>
#include <vector>

#include "tests/vit/train/golden_training.h"
#include "tests/vit/train/random_tensors.h"

namespace vitascope::train {
namespace {

using tests::normal_tensor;
using tests::relative_error;

/// The normal equations with a column of ones for the bias, solved as they stand.
/// \param penalty beside the sum of squares as it is
/// \return [F + 1, K], the bias last
at::Tensor solution(const LinearSamples& samples, double penalty) {
  const std::int64_t count = samples.features.size(0);
  const at::Tensor x =
      at::cat({samples.features, at::ones({count, 1}, samples.features.options())}, 1)
          .to(at::kDouble);
  const at::Tensor weighted = x * sample_weights(samples).unsqueeze(1);
  at::Tensor penalties = at::full({x.size(1)}, penalty, at::kDouble);
  penalties[-1] = 0;
  return at::linalg_solve(weighted.t().matmul(x) + penalties.diag(),
                          weighted.t().matmul(samples.targets.to(at::kDouble)));
}

LinearSamples random_samples(std::int64_t count, std::int64_t features, std::uint64_t seed) {
  return {normal_tensor({count, features}, seed) * 2 + 3, normal_tensor({count, 3}, seed + 1),
          normal_tensor({count}, seed + 2).abs() + 0.1};
}

/// Fewer features than samples, more, and more samples than are taken at a time.
class RidgeOfShape : public testing::TestWithParam<std::pair<std::int64_t, std::int64_t>> {};

TEST_P(RidgeOfShape, SolvesTheNormalEquations) {
  const auto [count, features] = GetParam();
  for (const double penalty : {0.01, 1.0, 30.0}) {
    for (const bool weighted : {false, true}) {
      LinearSamples samples = random_samples(count, features, 1);
      if (!weighted) samples.weights = at::Tensor();
      const RidgeFit fit = fit_ridge(samples, std::vector{penalty});
      const double total = sample_weights(samples).sum().item<double>();
      const at::Tensor expected = solution(samples, penalty * total);
      EXPECT_LE(relative_error(fit.weight, expected.slice(0, 0, features)), 1e-8);
      EXPECT_LE(relative_error(fit.bias, expected[features]), 1e-8);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Shapes, RidgeOfShape,
                         testing::Values(std::pair{40, 7}, std::pair{9, 30}, std::pair{9000, 4}));

TEST(Ridge, LeavesSamplesOutAsIfItWereFittedWithoutThem) {
  for (const std::int64_t features : {5, 30}) {
    const LinearSamples samples = random_samples(16, features, 5);
    const double penalty = 0.3;
    const RidgeFit fit = fit_ridge(samples, std::vector{penalty});
    const double total = sample_weights(samples).sum().item<double>();
    for (std::int64_t i = 0; i < 16; ++i) {
      LinearSamples others = samples;
      others.weights = samples.weights.clone();
      others.weights[i] = 0;
      const at::Tensor without = solution(others, penalty * total);
      const at::Tensor x = at::cat({samples.features[i], at::ones({1})}).to(at::kDouble);
      EXPECT_LE(relative_error(fit.left_out[i], x.matmul(without)), 1e-8);
    }
  }
}

TEST(Ridge, PenaltyThatPredictsBestWins) {
  LinearSamples samples = random_samples(60, 20, 9);
  const std::vector<double> penalties{1e-4, 1e-2, 1, 100};
  EXPECT_EQ(fit_ridge(samples, penalties).penalty, 100) << "targets are noise";
  samples.targets = samples.features.matmul(normal_tensor({20, 3}, 20));
  EXPECT_EQ(fit_ridge(samples, penalties).penalty, 1e-4) << "targets are linear";
}

TEST(Ridge, FeaturesThatNeverChangeHaveNoWeight) {
  LinearSamples samples = random_samples(8, 12, 3);
  samples.features = at::full_like(samples.features, 5);
  const RidgeFit fit = fit_ridge(samples, std::vector{0.1});
  EXPECT_LE(fit.weight.abs().max().item<double>(), 1e-12);
  const at::Tensor weights = sample_weights(samples);
  EXPECT_LE(
      relative_error(fit.bias, weights.matmul(samples.targets.to(at::kDouble)) / weights.sum()),
      1e-12);
}

TEST(Ridge, RefusesWhatDoesNotFit) {
  const LinearSamples samples = random_samples(6, 2, 4);
  EXPECT_THROW(fit_ridge(samples, {}), std::invalid_argument);
  EXPECT_THROW(fit_ridge(samples, std::vector{0.0}), std::invalid_argument);
  LinearSamples other = samples;
  other.targets = samples.targets.slice(0, 1);
  EXPECT_THROW(fit_ridge(other, std::vector{1.0}), std::invalid_argument);
  other = samples;
  other.weights = samples.weights.slice(0, 1);
  EXPECT_THROW(fit_ridge(other, std::vector{1.0}), std::invalid_argument);
  EXPECT_THROW(fit_ridge({at::empty({0, 2}), at::empty({0, 3})}, std::vector{1.0}),
               std::invalid_argument);
}

}  // namespace
}  // namespace vitascope::train
