#include "vit/metrics/comparison.h"

#include <gmock/gmock.h>

#include <stdexcept>

#include "tests/vit/metrics/golden_predictions.h"

namespace vitascope::metrics {
namespace {

using Indices = std::vector<std::int64_t>;

TEST(Comparison, McNemarIsWhatScipyGives) {
  ASSERT_EQ(tests::golden_measures().at("mcnemar").size(), 8);
  for (const Json& item : tests::golden_measures().at("mcnemar")) {
    const Discordance split{item.at("first_only"), item.at("second_only")};
    SCOPED_TRACE(item.dump());
    const double exact = item.at("exact");
    EXPECT_NEAR(mcnemar_exact(split), exact, tests::kRelative * exact);
    const CorrectedMcNemar corrected = mcnemar_corrected(split);
    EXPECT_NEAR(corrected.statistic, item.at("statistic"), tests::kRelative);
    const double probability = item.at("corrected");
    EXPECT_NEAR(corrected.probability, probability, tests::kRelative * probability);
  }
}

TEST(Comparison, ModelsThatNeverDifferAreEqual) {
  EXPECT_EQ(mcnemar_exact({}), 1);
  EXPECT_EQ(mcnemar_corrected({}).probability, 1);
  EXPECT_EQ(mcnemar_corrected({}).statistic, 0);
}

TEST(Comparison, CountsWhereOneModelAloneIsRight) {
  const Indices labels{0, 1, 2, 0, 1};
  const Indices first{0, 1, 0, 1, 0};   // right, right, wrong, wrong, wrong
  const Indices second{0, 2, 2, 2, 0};  // right, wrong, right, wrong, wrong
  const Discordance split = discordance(first, second, labels);
  EXPECT_EQ(split.first_only, 1);
  EXPECT_EQ(split.second_only, 1);
  EXPECT_EQ(discordance(labels, second, labels).first_only, 3);
}

TEST(Comparison, HoldsForSetsOfAnySize) {
  // Near the normal's answer for many samples, and neither 0 nor more than 1 by rounding.
  const Discordance large{500000, 502000};
  EXPECT_NEAR(mcnemar_exact(large), mcnemar_corrected(large).probability, 1e-6);
  EXPECT_EQ(mcnemar_exact({1000000, 1000000}), 1);
  EXPECT_LE(mcnemar_exact({1000000, 1000001}), 1);
}

TEST(Comparison, RefusesSidesThatDoNotPair) {
  EXPECT_THROW(discordance(Indices{0}, Indices{0, 1}, Indices{0, 1}), std::invalid_argument);
}

}  // namespace
}  // namespace vitascope::metrics
