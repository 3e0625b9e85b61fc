#include "vit/metrics/calibration.h"

#include <gmock/gmock.h>

#include <cmath>
#include <limits>
#include <stdexcept>

#include "tests/vit/metrics/golden_predictions.h"

namespace vitascope::metrics {
namespace {

using Indices = std::vector<std::int64_t>;
using Numbers = std::vector<double>;

class Calibration : public testing::Test {
 protected:
  const tests::GoldenPredictions& golden = tests::golden_predictions();
  const Json& expected = golden.expected;
  const Scores probabilities = golden.probability_scores();
  const Indices& labels = golden.labels;
};

void expect_near(double got, double exact) {
  EXPECT_NEAR(got, exact, tests::kRelative * std::abs(exact));
}

TEST_F(Calibration, BinsAreTheGoldenOnes) {
  const std::vector<ReliabilityBin> bins = reliability_bins(probabilities, labels);
  const Json& table = expected.at("bin_table");
  ASSERT_EQ(bins.size(), table.size());
  for (std::size_t i = 0; i < bins.size(); ++i) {
    SCOPED_TRACE(i);
    EXPECT_EQ(bins[i].count, table.at(i).at("count"));
    if (bins[i].count == 0) continue;
    expect_near(bins[i].accuracy, table.at(i).at("accuracy"));
    expect_near(bins[i].confidence, table.at(i).at("confidence"));
  }
  expect_near(expected_calibration_error(bins), expected.at("ece"));
  expect_near(maximum_calibration_error(bins), expected.at("mce"));
}

TEST_F(Calibration, LikelihoodAndBrierAreTheGoldenOnes) {
  expect_near(negative_log_likelihood(probabilities, labels), expected.at("nll"));
  expect_near(brier_score(probabilities, labels), expected.at("brier"));
}

TEST_F(Calibration, AfterATemperatureTheyAreTheGoldenOnes) {
  ASSERT_EQ(expected.at("temperature").size(), 2);
  for (const Json& item : expected.at("temperature")) {
    const Numbers scaled = softmax(golden.logit_scores(), item.at("T"));
    const Scores scores(scaled, 7);
    expect_near(negative_log_likelihood(scores, labels), item.at("nll"));
    expect_near(brier_score(scores, labels), item.at("brier"));
    expect_near(expected_calibration_error(reliability_bins(scores, labels)), item.at("ece"));
  }
}

TEST_F(Calibration, FitsTheTemperatureThatScipyFinds) {
  const double temperature = fit_temperature(golden.logit_scores(), labels);
  expect_near(temperature, tests::golden_measures().at("temperature"));
  // The minimum: to both sides the likelihood is worse.
  const auto nll = [&](double t) {
    const Numbers scaled = softmax(golden.logit_scores(), t);
    return negative_log_likelihood(Scores(scaled, 7), labels);
  };
  EXPECT_LT(nll(temperature), nll(temperature * 1.01));
  EXPECT_LT(nll(temperature), nll(temperature / 1.01));
}

TEST_F(Calibration, TemperatureOfTheCertainAndTheHopelessIsBounded) {
  const Numbers logits{3, 0, -1, 0, 4, 1};
  EXPECT_EQ(fit_temperature(Scores(logits, 3), Indices{0, 1}), 0.01);
  EXPECT_EQ(fit_temperature(Scores(logits, 3), Indices{2, 0}), 100);
  // Scaled logits only scale the temperature, over many sizes.
  Numbers scaled(golden.logits);
  for (double& logit : scaled) logit *= 40;
  expect_near(fit_temperature(Scores(scaled, 7), labels),
              40 * fit_temperature(golden.logit_scores(), labels));
}

TEST_F(Calibration, BinsAreClosedAbove) {
  // m / M is rounded, and so is a product with M: of 25 bins some come out too high, of 3 too low.
  for (const int count : {3, 10, 15, 25}) {
    for (int m = 1; m <= count; ++m) {
      const double edge = static_cast<double>(m) / count;
      const double beyond = std::nextafter(edge, 2);
      for (const auto& [p, bin] : {std::pair{edge, m - 1}, {beyond, std::min(m, count - 1)}}) {
        const Numbers top{p, -1};
        const auto bins = reliability_bins(Scores(top, 2), Indices{0}, count);
        EXPECT_EQ(bins[static_cast<std::size_t>(bin)].count, 1) << p << " of " << count;
      }
    }
  }
}

TEST_F(Calibration, ImpossibleTruthIsInfinitelyUnlikely) {
  const Numbers sure{1, 0};
  EXPECT_EQ(negative_log_likelihood(Scores(sure, 2), Indices{1}),
            std::numeric_limits<double>::infinity());
  EXPECT_EQ(brier_score(Scores(sure, 2), Indices{1}), 2);
}

TEST_F(Calibration, RefusesWhatIsNoProbability) {
  const Numbers logits{1.5, 0};
  EXPECT_THROW(reliability_bins(Scores(logits, 2), Indices{0}), std::invalid_argument);
  EXPECT_THROW(reliability_bins(probabilities, labels, 0), std::invalid_argument);
  EXPECT_THROW(reliability_bins(probabilities, Indices{0}), std::invalid_argument);
  EXPECT_THROW(expected_calibration_error({}), std::invalid_argument);
}

}  // namespace
}  // namespace vitascope::metrics
