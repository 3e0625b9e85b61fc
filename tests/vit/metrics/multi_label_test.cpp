#include "vit/metrics/multi_label.h"

#include <gmock/gmock.h>

#include <stdexcept>

#include "tests/vit/metrics/golden_predictions.h"

namespace vitascope::metrics {
namespace {

using Lists = std::vector<std::vector<std::int64_t>>;

/// scikit-learn's answers for 40 samples of 5 classes, one of them nobody's.
class MultiLabel : public testing::Test {
 protected:
  const Json& golden = tests::golden_measures().at("multi_label");
  const Lists labels = golden.at("labels");
  const std::vector<double> values = golden.at("scores");
  const Scores scores{values, 5};
};

TEST_F(MultiLabel, AveragePrecisionIsTheGoldenOne) {
  const auto precisions = average_precisions(scores, labels);
  ASSERT_EQ(precisions.size(), 5);
  for (std::size_t i = 0; i < 5; ++i) {
    const Json& expected = golden.at("average_precision").at(i);
    ASSERT_EQ(precisions[i].has_value(), !expected.is_null());
    if (!precisions[i]) continue;
    EXPECT_NEAR(*precisions[i], expected, tests::kRelative);
  }
  EXPECT_NEAR(*mean_average_precision(precisions), golden.at("mean_average_precision"),
              tests::kRelative);
}

TEST_F(MultiLabel, MicroAndMacroAreTheGoldenOnes) {
  const std::vector<ClassCounts> counts = count_above(scores, labels);
  const auto expect = [](const Rates& got, const Json& expected) {
    EXPECT_NEAR(got.precision, expected.at(0), tests::kRelative);
    EXPECT_NEAR(got.recall, expected.at(1), tests::kRelative);
    EXPECT_NEAR(got.f1, expected.at(2), tests::kRelative);
  };
  expect(micro_average(counts), golden.at("micro"));
  expect(averages_of(counts).macro, golden.at("macro"));
}

TEST_F(MultiLabel, ThresholdItselfCounts) {
  const std::vector<double> two{.5, .4999};
  const auto counts = count_above(Scores(two, 2), Lists{{1}});
  EXPECT_EQ(counts[0].predicted, 1);
  EXPECT_EQ(counts[1].predicted, 0);
  EXPECT_EQ(counts[1].support, 1);
}

TEST_F(MultiLabel, EqualScoresAreOneThreshold) {
  // All three at once: precision 1/3 at recall 1, however they are ordered.
  for (const std::vector<bool>& present :
       {std::vector<bool>{true, false, false}, {false, false, true}}) {
    EXPECT_NEAR(*average_precision(std::vector<double>{.5, .5, .5}, present), 1. / 3, 1e-15);
  }
}

TEST_F(MultiLabel, NothingPresentHasNoPrecision) {
  EXPECT_EQ(average_precision(std::vector<double>{.1, .2}, {false, false}), std::nullopt);
  EXPECT_EQ(mean_average_precision(std::vector<std::optional<double>>(3)), std::nullopt);
}

TEST_F(MultiLabel, RefusesLabelsThatDoNotFit) {
  const std::vector<double> two{.5, .5};
  for (const Lists& wrong : {Lists{}, Lists{{2}}, Lists{{-1}}, Lists{{0, 0}}, Lists{{0}, {1}}}) {
    EXPECT_THROW(average_precisions(Scores(two, 2), wrong), std::invalid_argument);
    EXPECT_THROW(count_above(Scores(two, 2), wrong), std::invalid_argument);
  }
}

}  // namespace
}  // namespace vitascope::metrics
