#include "vit/caption/selection.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include "tests/vit/caption/golden_mechanism.h"

namespace vitascope::caption {
namespace {

TEST(Draw, DrawsByProbability) {
  RandomNumbers random(1);
  constexpr std::int64_t kRows = 40000;
  // The sum is 2: they are taken as shares of it.
  const at::Tensor p = at::tensor({0.0F, 0.5F, 1.5F, 0.0F}).expand({kRows, 4});
  const at::Tensor counts = at::bincount(draw(p, random), {}, 4);
  EXPECT_EQ(counts[0].item<std::int64_t>() + counts[3].item<std::int64_t>(), 0);
  EXPECT_NEAR(counts[1].item<double>() / kRows, 0.25, 3 * 0.0022);
  EXPECT_EQ(draw(at::zeros({2, 3}), random).sum().item<std::int64_t>(), 0);
}

TEST(Choose, WithoutRandomNumbersTheLikeliestIsTaken) {
  const at::Tensor weights = at::tensor({0.2F, 0.5F, 0.3F}).view({1, 1, 3});
  const at::Tensor values = tests::normal_tensor({1, 3, 4}, 1);
  const Chosen chosen = choose(weights, values, {});
  tests::expect_close(chosen.context[0], values[0][1], 0);
  EXPECT_EQ(chosen.place[0].item<int>(), 1);
  EXPECT_NEAR(chosen.log_place.item<double>(), std::log(0.5), 1e-6);
  EXPECT_NEAR(chosen.entropy.item<double>(), 1.0296530, 1e-6);
}

TEST(Choose, SaysWhichPlaceWasDrawn) {
  const at::Tensor weights = at::tensor({0.2F, 0.5F, 0.3F}).expand({1, 64, 3});
  const at::Tensor values = tests::normal_tensor({1, 3, 4}, 1);
  RandomNumbers random(1);
  const Chosen chosen = choose(weights, values, {.random = &random});
  tests::expect_close(chosen.context, values[0].index_select(0, chosen.place), 0);
  EXPECT_EQ(at::bincount(chosen.place, {}, 3).gt(0).sum().item<int>(), 3);
}

/// With probability one half a caption takes the expectation, and then no place is rewarded.
TEST(Choose, TheExpectationIsTheSoftContext) {
  const at::Tensor weights = tests::normal_tensor({2, 1, 3}, 1).softmax(-1);
  const at::Tensor values = tests::normal_tensor({2, 3, 4}, 2);
  RandomNumbers random(1);
  const Chosen chosen =
      choose(weights, values, {.random = &random, .expected = at::tensor({0, 1}).to(at::kBool)});
  tests::expect_close(chosen.context[1], weights[1][0].matmul(values[1]), 1e-6);
  EXPECT_EQ(chosen.log_place[1].item<float>(), 0);
  EXPECT_LT(chosen.log_place[0].item<float>(), 0);
  const at::Tensor distances = (values[0] - chosen.context[0]).abs().sum(1);
  EXPECT_EQ(distances.min().item<float>(), 0);
}

TEST(Choose, ZeroWeightsHaveFiniteGradients) {
  const at::Tensor weights =
      at::tensor({0.0F, 1.0F, 0.0F, 0.0F, 0.0F, 0.0F}).view({2, 1, 3}).requires_grad_();
  const at::Tensor values = at::ones({2, 3, 4});
  RandomNumbers random(1);
  const Chosen chosen = choose(weights, values, {.random = &random});
  EXPECT_EQ(chosen.context[0].sum().item<float>(), 4);
  EXPECT_EQ(chosen.context[1].sum().item<float>(), 0);  // nothing is seen
  (chosen.context.sum() + chosen.log_place.sum() + chosen.entropy.sum()).backward();
  EXPECT_TRUE(weights.grad().isfinite().all().item<bool>());
}

TEST(Lots, AreTrueWithTheirProbability) {
  RandomNumbers random(1);
  EXPECT_NEAR(lots(40000, 0.3, random).to(at::kDouble).mean().item<double>(), 0.3, 3 * 0.0023);
}

}  // namespace
}  // namespace vitascope::caption
