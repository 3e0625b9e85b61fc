#include "vit/explain/curves.h"

#include <gmock/gmock.h>

#include <cmath>
#include <stdexcept>

#include "tests/vit/explain/golden_vit.h"

namespace vitascope::explain {
namespace {

using tests::expect_close;
using tests::GoldenVit;
using tests::kRelative;

using testing::DoubleNear;
using testing::ElementsAre;
using testing::Pointwise;

std::vector<double> numbers(const at::Tensor& tensor) {
  const at::Tensor exact = tensor.to(at::kDouble).contiguous();
  return {exact.const_data_ptr<double>(), exact.const_data_ptr<double>() + exact.numel()};
}

class GoldenCurves : public testing::TestWithParam<const char*> {};

TEST_P(GoldenCurves, AreWhatTheFormulasGive) {
  const GoldenVit model(GetParam());
  const at::Tensor map = model[model.description().at("curve_map")];
  EXPECT_EQ(most_relevant_first(map),
            model.description().at("curve_order").get<std::vector<std::int64_t>>());
  const at::Tensor nothing = baseline(model["image"], Fill::mean, {});
  const Faithfulness result = faithfulness(
      [&](const at::Tensor& pixels) { return model.probabilities(pixels); }, model["image"],
      nothing, map, {.of_class = model.description().at("curve_class")}, {.size = 5});
  const auto expect_curve = [&](const Curve& curve, const std::string& name) {
    SCOPED_TRACE(name);
    EXPECT_THAT(curve.probability,
                Pointwise(DoubleNear(kRelative), numbers(model["curve." + name])));
    EXPECT_NEAR(area(curve), model.description().at("auc").at(name).get<double>(), kRelative);
  };
  expect_curve(result.deletion_most_first, "deletion_most_first");
  expect_curve(result.deletion_least_first, "deletion_least_first");
  expect_curve(result.insertion_most_first, "insertion_most_first");
  EXPECT_EQ(result.deletion, area(result.deletion_most_first));
  EXPECT_EQ(result.insertion, area(result.insertion_most_first));
  EXPECT_NEAR(result.symmetric_gain, model.description().at("srg").get<double>(), kRelative);
}

TEST_P(GoldenCurves, InsertionRunsLikeDeletionBackwards) {
  const GoldenVit model(GetParam());
  const auto order = model.description().at("curve_order").get<std::vector<std::int64_t>>();
  const Curve inserted = replacement_curve(
      [&](const at::Tensor& pixels) { return model.probabilities(pixels); },
      baseline(model["image"], Fill::mean, {}), model["image"], order, model.grid().rows,
      model.grid().columns, {.of_class = model.description().at("curve_class")});
  EXPECT_THAT(inserted.probability,
              Pointwise(DoubleNear(kRelative), numbers(model["curve.insertion_most_first"])));
}

VITASCOPE_FOR_GOLDEN_VITS(GoldenCurves);

/// A photo of 1 x 20 patches of one pixel, each worth 1/20 of class 0; class 1 has the rest.
at::Tensor share_visible(const at::Tensor& pixels) {
  const at::Tensor visible = pixels.select(1, 0).mean({1, 2});
  return at::stack({visible, 1 - visible}, 1);
}

constexpr std::int64_t kPatches = 20;

Faithfulness of_shares(std::int64_t steps, const Batching& batching = {}) {
  const at::Tensor pixels = at::ones({1, 3, 1, kPatches}, at::kDouble);
  return faithfulness(share_visible, pixels, at::zeros_like(pixels),
                      at::rand({1, kPatches}, at::kDouble), {.steps = steps}, batching);
}

TEST(Curves, FiguresOfAModelThatCountsPatches) {
  // Each removed patch costs .05 whatever the order, so the line is straight. The class leads while
  // more than half is visible; at half argmax takes the lower index, so tenths 1 to 5 lead.
  for (const std::int64_t steps : {0, 3, 20}) {
    SCOPED_TRACE(steps);
    const Faithfulness result = of_shares(steps);
    EXPECT_NEAR(result.deletion, .5, 1e-12);
    EXPECT_NEAR(result.insertion, .5, 1e-12);
    EXPECT_NEAR(*result.relative_deletion, .5, 1e-12);
    EXPECT_NEAR(result.symmetric_gain, 0, 1e-12);
    EXPECT_NEAR(result.positive_perturbation, 4.5 / 8, 1e-12);
    EXPECT_NEAR(result.negative_perturbation, 4.5 / 8, 1e-12);
    // 1, 1, 2, 4 and 10 of 20 patches.
    EXPECT_NEAR(result.comprehensiveness, (.05 + .05 + .1 + .2 + .5) / 5, 1e-12);
    EXPECT_NEAR(result.sufficiency, (.95 + .95 + .9 + .8 + .5) / 5, 1e-12);
  }
}

TEST(Curves, AskNoMoreThanNeeded) {
  EXPECT_EQ(of_shares(0).deletion_most_first.patches.size(), 21);
  // 0, 6, 13, 20 of three steps, 1, 2, 4, 10 of the shares, even numbers of the tenths, and what
  // they leave.
  EXPECT_THAT(of_shares(3).deletion_most_first.patches,
              ElementsAre(0, 1, 2, 4, 6, 7, 8, 10, 12, 13, 14, 16, 18, 19, 20));
}

TEST(Curves, ReportProgressOfBothRunsAsOne) {
  std::vector<std::pair<std::int64_t, std::int64_t>> reports;
  of_shares(0, {.size = 14, .progress = [&](std::int64_t done, std::int64_t all) {
                  reports.emplace_back(done, all);
                }});
  EXPECT_THAT(reports, ElementsAre(std::pair(14, 42), std::pair(21, 42), std::pair(35, 42),
                                   std::pair(42, 42)));
}

TEST(Curves, TheMostRelevantGoesFirst) {
  // Only patch (1, 0) of 2 x 2 matters, and the map says so.
  at::Tensor pixels = at::zeros({1, 3, 4, 4}, at::kDouble);
  pixels[0].slice(1, 2, 4).slice(2, 0, 2).fill_(1);
  const auto only = [](const at::Tensor& seen) {
    const at::Tensor bright = seen.slice(2, 2, 4).slice(3, 0, 2).mean({1, 2, 3});
    return at::stack({1 - bright, bright}, 1);
  };
  const at::Tensor map = at::tensor({.1, .2, .6, .1}).view({2, 2});
  const Faithfulness result =
      faithfulness(only, pixels, at::zeros_like(pixels), map, {.of_class = 1});
  EXPECT_THAT(result.deletion_most_first.probability, ElementsAre(1, 0, 0, 0, 0));
  EXPECT_THAT(result.deletion_least_first.probability, ElementsAre(1, 1, 1, 1, 0));
  EXPECT_THAT(result.insertion_most_first.probability, ElementsAre(0, 1, 1, 1, 1));
  EXPECT_THAT(result.insertion_most_first.leads, ElementsAre(false, true, true, true, true));
  EXPECT_EQ(result.deletion, .125);
  EXPECT_EQ(result.insertion, .875);
  EXPECT_EQ(result.symmetric_gain, .75);
  EXPECT_EQ(result.positive_perturbation, .5 / 8);   // a tenth of 4 patches rounds to none
  EXPECT_EQ(result.negative_perturbation, 7.5 / 8);  // nine tenths to all
  EXPECT_EQ(result.comprehensiveness, 1);
  EXPECT_EQ(result.sufficiency, 0);
}

TEST(Curves, OfEqualCellsTheLowerIndexGoesFirst) {
  EXPECT_THAT(most_relevant_first(at::tensor({1.f, 3.f, 1.f, 3.f, 2.f, 1.f}).view({2, 3})),
              ElementsAre(1, 3, 4, 0, 2, 5));
}

TEST(Curves, APhotoThatSaysNoMoreThanItsBaselineHasNoRelativeArea) {
  const at::Tensor pixels = at::ones({1, 3, 2, 2});
  const auto constant = [](const at::Tensor& seen) { return at::full({seen.size(0), 2}, .5); };
  const Faithfulness result =
      faithfulness(constant, pixels, at::zeros_like(pixels), at::ones({2, 2}), {});
  EXPECT_FALSE(result.relative_deletion);
  EXPECT_FALSE(result.relative_insertion);
}

TEST(Curves, RefuseAGridThatDoesNotFit) {
  const at::Tensor pixels = at::ones({1, 3, 4, 6});
  EXPECT_THROW(faithfulness(share_visible, pixels, pixels, at::ones({3, 3}), {}),
               std::invalid_argument);
  EXPECT_THROW(faithfulness(share_visible, pixels, pixels, at::ones({2, 4}), {}),
               std::invalid_argument);
}

TEST(Baseline, IsTheMeanColourOrBlack) {
  image::Specification specification;
  specification.mean = {.5f, .25f, 0.f};
  specification.std = {.5f, .125f, .25f};
  const at::Tensor pixels = at::rand({1, 3, 4, 6});
  EXPECT_TRUE(baseline(pixels, Fill::mean, specification).equal(at::zeros({1, 3, 4, 6})));
  const at::Tensor black = at::tensor({-1.f, -2.f, 0.f}).view({1, 3, 1, 1}).expand({1, 3, 4, 6});
  EXPECT_TRUE(baseline(pixels, Fill::zero, specification).equal(black));
  specification.normalise = false;
  EXPECT_TRUE(baseline(pixels, Fill::zero, specification).equal(at::zeros({1, 3, 4, 6})));
}

TEST(Baseline, BlurSpreadsAPointAsAGaussianAndKeepsAnEvenColour) {
  const at::Tensor even = at::full({1, 3, 40, 60}, .75);
  expect_close(baseline(even, Fill::blur, {}), even, 1e-6);
  at::Tensor point = at::zeros({1, 3, 40, 60}, at::kDouble);
  point[0][1][20][30] = 1;
  const at::Tensor spread = baseline(point, Fill::blur, {});
  EXPECT_EQ(spread[0][0].abs().max().item<double>(), 0);
  EXPECT_NEAR(spread[0][1].sum().item<double>(), 1, 1e-12);
  // Sigma is 40 / 20 = 2 pixels, cut off at 6.
  const double centre = spread[0][1][20][30].item<double>();
  EXPECT_NEAR(spread[0][1][22][30].item<double>() / centre, std::exp(-.5), 1e-12);
  EXPECT_NEAR(spread[0][1][20][34].item<double>() / centre, std::exp(-2), 1e-12);
  EXPECT_EQ(spread[0][1][20][37].item<double>(), 0);
}

}  // namespace
}  // namespace vitascope::explain
