#include "vit/explain/statistics.h"

#include <gmock/gmock.h>

#include <cmath>
#include <numbers>
#include <stdexcept>

#include "tests/golden.h"
#include "vit/json.h"

namespace vitascope::explain {
namespace {

using testing::DoubleNear;
using testing::Pointwise;

using Numbers = std::vector<double>;

constexpr double kExact = 1e-6;

const Json& golden() {
  static const Json values = read_json(tests::golden("explain/statistics.json"));
  return values;
}

void expect_value(double got, const Json& expected) {
  const double exact = expected;
  EXPECT_NEAR(got, exact, kExact * std::abs(exact));
}

/// A number, or null where it is undefined.
void expect_value(const std::optional<double>& got, const Json& expected) {
  ASSERT_EQ(got.has_value(), !expected.is_null());
  if (got) expect_value(*got, expected);
}

TEST(Statistics, DivergencesAreTheGoldenOnes) {
  ASSERT_EQ(golden().at("jsd").size(), 7);
  for (const Json& item : golden().at("jsd")) {
    SCOPED_TRACE(item.value("note", ""));
    const Numbers p = item.at("p");
    const Numbers q = item.at("q");
    expect_value(jensen_shannon_divergence(p, q), item.at("jsd"));
    expect_value(jensen_shannon_divergence(q, p), item.at("jsd"));
    expect_value(total_variation_distance(p, q), item.at("tvd"));
  }
}

TEST(Statistics, RankCorrelationsAreTheGoldenOnes) {
  ASSERT_EQ(golden().at("kendall").size(), 9);
  for (const Json& item : golden().at("kendall")) {
    SCOPED_TRACE(item.value("note", ""));
    expect_value(kendall_tau(item.at("a").get<Numbers>(), item.at("b").get<Numbers>()),
                 item.at("tau_b"));
  }
}

TEST(Statistics, SpreadOfMapsIsTheGoldenOne) {
  ASSERT_EQ(golden().at("maps").size(), 6);
  for (const Json& item : golden().at("maps")) {
    SCOPED_TRACE(item.value("note", ""));
    const Numbers map = item.at("map");
    expect_value(gini(map), item.at("gini"));
    expect_value(entropy(map), item.at("entropy"));
    expect_value(normalised_entropy(map), item.at("entropy_normalised"));
    EXPECT_THAT(min_max(map), Pointwise(DoubleNear(kExact), item.at("minmax").get<Numbers>()));
  }
}

TEST(Statistics, EntropyOfASingleValueIsZero) { EXPECT_EQ(normalised_entropy(Numbers{3}), 0); }

TEST(Statistics, PearsonIsTheCosineOfWhatIsLeftOfTheMean) {
  // Deviations (-1, 0, 1) and (-1, 2, -1) are at right angles, (-1, 0, 1) and (-2, 1, 1) are not:
  // 3 / sqrt(2 * 6).
  EXPECT_NEAR(*pearson_correlation(Numbers{1, 2, 3}, Numbers{1, 4, 1}), 0, 1e-15);
  EXPECT_NEAR(*pearson_correlation(Numbers{1, 2, 3}, Numbers{5, 8, 8}), std::sqrt(3) / 2, 1e-15);
  EXPECT_NEAR(*pearson_correlation(Numbers{1, 2, 3}, Numbers{9, 7, 5}), -1, 1e-15);
}

TEST(Statistics, CorrelationWithAConstantIsUndefined) {
  // The mean of three times .1 isn't .1 in double.
  EXPECT_EQ(pearson_correlation(Numbers{.1, .1, .1}, Numbers{1, 2, 4}), std::nullopt);
  EXPECT_EQ(spearman_correlation(Numbers{1, 2, 4}, Numbers{.1, .1, .1}), std::nullopt);
}

TEST(Statistics, SpearmanSeesOrderOnlyAndSharesRanksOfTies) {
  EXPECT_NEAR(*spearman_correlation(Numbers{1, 2, 3, 4}, Numbers{1, 10, 100, 1e6}), 1, 1e-15);
  // Ranks 0, 1.5, 1.5, 3 against 0, 1, 2, 3: 4.5 / sqrt(4.5 * 5).
  EXPECT_NEAR(*spearman_correlation(Numbers{1, 2, 2, 3}, Numbers{1, 2, 3, 4}),
              4.5 / std::sqrt(4.5 * 5), 1e-15);
}

TEST(Statistics, MedianIsTheMiddle) {
  EXPECT_EQ(median(Numbers{9, 1, 5}), 5);
  EXPECT_EQ(median(Numbers{9, 1, 5, 6}), 5.5);
  EXPECT_EQ(median(Numbers{4}), 4);
}

TEST(Statistics, RefusesSidesThatDoNotPair) {
  EXPECT_THROW(jensen_shannon_divergence(Numbers{1}, Numbers{.5, .5}), std::invalid_argument);
  EXPECT_THROW(kendall_tau(Numbers{}, Numbers{}), std::invalid_argument);
  EXPECT_THROW(median(Numbers{}), std::invalid_argument);
  EXPECT_THROW(min_max(Numbers{}), std::invalid_argument);
}

}  // namespace
}  // namespace vitascope::explain
