#include "vit/metrics/bootstrap.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <limits>
#include <set>
#include <stdexcept>
#include <vector>

#include "vit/metrics/classification.h"

namespace vitascope::metrics {
namespace {

using Numbers = std::vector<double>;

TEST(Bootstrap, OfEqualValuesHasNoWidth) {
  const Interval interval = bootstrap_mean(Numbers{.25, .25, .25});
  EXPECT_EQ(interval.low, .25);
  EXPECT_EQ(interval.high, .25);
}

TEST(Bootstrap, FindsTheStandardErrorOfAMean) {
  // 200 zeros and 200 ones: mean 1/2, standard error 1/40; 1.96 of it for 95 %, 1.645 for 90 %.
  Numbers values(400, 0);
  std::fill(values.begin() + 200, values.end(), 1);
  const Interval wide = bootstrap_mean(values, {.level = .95, .resamples = 4000, .seed = 3});
  EXPECT_NEAR(wide.low, .5 - 1.96 / 40, .004);
  EXPECT_NEAR(wide.high, .5 + 1.96 / 40, .004);
  const Interval narrow = bootstrap_mean(values, {.level = .9, .resamples = 4000, .seed = 3});
  EXPECT_NEAR(narrow.low, .5 - 1.645 / 40, .004);
  EXPECT_NEAR(narrow.high, .5 + 1.645 / 40, .004);
}

TEST(Bootstrap, DependsOnItsSeedAlone) {
  const Numbers values{.1, .7, .3, .9, .2};
  const Interval first = bootstrap_mean(values, {.seed = 1});
  EXPECT_EQ(bootstrap_mean(values, {.seed = 1}).low, first.low);
  EXPECT_EQ(bootstrap_mean(values, {.seed = 1}).high, first.high);
  const Interval few = bootstrap_mean(values, {.resamples = 7, .seed = 1});
  EXPECT_NE(bootstrap_mean(values, {.resamples = 7, .seed = 2}).low, few.low);
}

TEST(Bootstrap, DrawsEveryIndexAndOnlyThose) {
  std::set<std::int64_t> seen;
  bootstrap(7, [&](std::span<const std::int64_t> indices) {
    EXPECT_EQ(indices.size(), 7);
    seen.insert(indices.begin(), indices.end());
    return 0.0;
  });
  EXPECT_THAT(seen, testing::ElementsAre(0, 1, 2, 3, 4, 5, 6));
}

TEST(Bootstrap, OfTheMeanIsThatOfAnyStatistic) {
  const Numbers values{.1, .7, .3, .9, .2};
  const auto mean = [&](std::span<const std::int64_t> indices) {
    double sum = 0;
    for (const std::int64_t i : indices) sum += values[static_cast<std::size_t>(i)];
    return sum / 5;
  };
  const Interval general = bootstrap(5, mean, {.seed = 4});
  EXPECT_EQ(general.low, bootstrap_mean(values, {.seed = 4}).low);
  EXPECT_EQ(general.high, bootstrap_mean(values, {.seed = 4}).high);
}

TEST(Bootstrap, OfADifferenceSeesThatPairsGoTogether) {
  // The second model is right wherever the first is, and on 20 samples more of 400: the difference
  // of .05 has a standard error of sqrt(.05 * .95 / 400), less than each accuracy's own.
  const auto first_right = [](std::int64_t i) { return i < 200; };
  const auto second_right = [](std::int64_t i) { return i < 220; };
  const auto difference = [&](std::span<const std::int64_t> indices) {
    double sum = 0;
    for (const std::int64_t i : indices) sum += second_right(i) - first_right(i);
    return sum / 400;
  };
  const Interval interval = bootstrap(400, difference, {.resamples = 4000, .seed = 5});
  EXPECT_NEAR(interval.low, .05 - 1.96 * .0109, .003);
  EXPECT_NEAR(interval.high, .05 + 1.96 * .0109, .003);
}

TEST(Bootstrap, GivesIntervalsOfMacroF1) {
  const std::vector<std::int64_t> labels{0, 0, 0, 1, 1, 2, 2, 2, 2, 1};
  const std::vector<std::int64_t> predicted{0, 1, 0, 1, 1, 2, 2, 0, 2, 2};
  const auto macro_f1 = [&](std::span<const std::int64_t> indices) {
    ConfusionMatrix confusion(3);
    for (const std::int64_t i : indices) {
      confusion.add(labels[static_cast<std::size_t>(i)], predicted[static_cast<std::size_t>(i)]);
    }
    return averages_of(confusion.per_class()).macro_present.f1;
  };
  std::vector<std::int64_t> all(labels.size());
  for (std::size_t i = 0; i < all.size(); ++i) all[i] = static_cast<std::int64_t>(i);
  const Interval interval = bootstrap(std::ssize(labels), macro_f1);
  EXPECT_LT(interval.low, macro_f1(all));
  EXPECT_GT(interval.high, macro_f1(all));
  EXPECT_GT(interval.low, 0);
  EXPECT_LE(interval.high, 1);
}

TEST(Bootstrap, QuantilesAreInterpolatedLinearly) {
  const Numbers sorted{1, 2, 4, 8, 16};
  EXPECT_EQ(quantile(sorted, 0), 1);
  EXPECT_EQ(quantile(sorted, .5), 4);
  EXPECT_EQ(quantile(sorted, .625), 6);
  EXPECT_EQ(quantile(sorted, 1), 16);
}

TEST(Bootstrap, RefusesWhatHasNoMeaning) {
  const Numbers values{1, 2};
  EXPECT_THROW(bootstrap_mean(Numbers{}), std::invalid_argument);
  EXPECT_THROW(bootstrap_mean(values, {.resamples = 0}), std::invalid_argument);
  EXPECT_THROW(bootstrap_mean(values, {.level = 1}), std::invalid_argument);
  EXPECT_THROW(bootstrap_mean(Numbers{std::numeric_limits<double>::quiet_NaN()}),
               std::invalid_argument);
}

}  // namespace
}  // namespace vitascope::metrics
