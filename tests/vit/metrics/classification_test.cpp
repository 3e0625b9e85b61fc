#include "vit/metrics/classification.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <stdexcept>

#include "tests/vit/metrics/golden_predictions.h"

namespace vitascope::metrics {
namespace {

using testing::ElementsAre;
using Indices = std::vector<std::int64_t>;

const Json& expected() { return tests::golden_predictions().expected; }

ConfusionMatrix golden_confusion() {
  return {tests::golden_predictions().probability_scores(), tests::golden_predictions().labels};
}

void expect_rates(const Rates& got, const Json& golden) {
  EXPECT_NEAR(got.precision, golden.at("precision"), tests::kRelative);
  EXPECT_NEAR(got.recall, golden.at("recall"), tests::kRelative);
  EXPECT_NEAR(got.f1, golden.at("f1"), tests::kRelative);
}

TEST(Classification, TopKIsTheGoldenOne) {
  const tests::GoldenPredictions& golden = tests::golden_predictions();
  const Indices ranks = label_ranks(golden.probability_scores(), golden.labels);
  EXPECT_NEAR(top_k_accuracy(ranks, 1), expected().at("top1"), tests::kRelative);
  EXPECT_NEAR(top_k_accuracy(ranks, 2), expected().at("top2"), tests::kRelative);
  EXPECT_NEAR(top_k_accuracy(ranks, 5), expected().at("top5"), tests::kRelative);
  EXPECT_EQ(top_k_accuracy(ranks, 7), 1);
}

TEST(Classification, ConfusionIsTheGoldenOne) {
  const ConfusionMatrix confusion = golden_confusion();
  for (std::int64_t label = 0; label < 7; ++label) {
    for (std::int64_t predicted = 0; predicted < 7; ++predicted) {
      EXPECT_EQ(confusion.at(label, predicted),
                expected().at("confusion_matrix").at(label).at(predicted));
    }
  }
}

TEST(Classification, RatesOfEachClassAreTheGoldenOnes) {
  const std::vector<ClassCounts> classes = golden_confusion().per_class();
  ASSERT_EQ(classes.size(), 7);
  for (std::size_t i = 0; i < 7; ++i) {
    SCOPED_TRACE(i);
    EXPECT_EQ(classes[i].support, expected().at("support").at(i));
    expect_rates(rates_of(classes[i]), {{"precision", expected().at("precision").at(i)},
                                        {"recall", expected().at("recall").at(i)},
                                        {"f1", expected().at("f1").at(i)}});
  }
}

TEST(Classification, AveragesAreTheGoldenOnes) {
  const ConfusionMatrix confusion = golden_confusion();
  const Averages averages = averages_of(confusion.per_class());
  expect_rates(averages.macro, expected().at("macro_all_classes"));
  expect_rates(averages.macro_present, expected().at("macro_present_classes"));
  expect_rates(averages.weighted, expected().at("weighted"));
  EXPECT_NEAR(balanced_accuracy(confusion), expected().at("balanced_accuracy"), tests::kRelative);
  EXPECT_NEAR(accuracy(confusion), expected().at("top1"), tests::kRelative);
}

TEST(Classification, RanksCountTiedClassesOfLowerIndex) {
  const std::vector<double> values{.25, .375, .375, 0, .25, .25, .25, .25};
  EXPECT_THAT(label_ranks(Scores(values, 4), Indices{2, 0}), ElementsAre(1, 0));
  EXPECT_THAT(label_ranks(Scores(values, 4), Indices{0, 3}), ElementsAre(2, 3));
}

TEST(Classification, PartsOfASetAddUp) {
  const tests::GoldenPredictions& golden = tests::golden_predictions();
  ConfusionMatrix sum(7);
  for (const auto& [start, count] : {std::pair<std::size_t, std::size_t>{0, 25}, {25, 35}}) {
    const std::span<const double> part =
        std::span(golden.probabilities).subspan(start * 7, count * 7);
    const ConfusionMatrix counted(Scores(part, 7), std::span(golden.labels).subspan(start, count));
    std::ranges::transform(sum.counts(), counted.counts(), sum.counts().begin(), std::plus());
  }
  const ConfusionMatrix all = golden_confusion();
  EXPECT_TRUE(std::ranges::equal(std::as_const(sum).counts(), all.counts()));
}

TEST(Classification, RefusesWhatHasNoMeaning) {
  EXPECT_THROW(top_k_accuracy({}, 1), std::invalid_argument);
  EXPECT_THROW(accuracy(ConfusionMatrix(3)), std::invalid_argument);
  ConfusionMatrix confusion(3);
  EXPECT_THROW(confusion.add(3, 0), std::invalid_argument);
  EXPECT_THROW(confusion.add(0, -1), std::invalid_argument);
}

TEST(MostConfused, TheMostFrequentFirst) {
  ConfusionMatrix confusion(3);
  confusion.add(0, 0, 9);
  confusion.add(0, 2, 2);
  confusion.add(1, 0, 2);
  confusion.add(2, 1, 5);
  const std::vector<Confusion> found = most_confused(confusion, 10);
  ASSERT_EQ(found.size(), 3u);
  EXPECT_EQ(found[0].label, 2);
  EXPECT_EQ(found[0].predicted, 1);
  EXPECT_EQ(found[0].count, 5);
  EXPECT_EQ(found[1].label, 0);
  EXPECT_EQ(found[2].label, 1);
  EXPECT_EQ(most_confused(confusion, 1).size(), 1u);
  EXPECT_TRUE(most_confused(ConfusionMatrix(3), 1).empty());
}

}  // namespace
}  // namespace vitascope::metrics
