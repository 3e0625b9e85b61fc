#include "vit/metrics/scores.h"

#include <gmock/gmock.h>

#include <limits>
#include <stdexcept>

#include "tests/vit/metrics/golden_predictions.h"

namespace vitascope::metrics {
namespace {

using testing::DoubleNear;
using testing::ElementsAre;
using testing::Pointwise;

using Numbers = std::vector<double>;

TEST(Scores, AreRowsOfWhatIsGiven) {
  const Numbers values{1, 2, 3, 4, 5, 6};
  const Scores scores(values, 3);
  EXPECT_EQ(scores.samples(), 2);
  EXPECT_THAT(scores.row(1), ElementsAre(4, 5, 6));
}

TEST(Scores, RankTiesByIndex) {
  const Json& example = tests::golden_predictions().expected.at("tie_example");
  for (std::size_t i = 0; i < 3; ++i) {
    const Numbers row = example.at("probs").at(i);
    EXPECT_EQ(top_class(row), example.at("argmax").at(i));
    EXPECT_EQ(top_classes(row, 2), example.at("top2").at(i).get<std::vector<std::int64_t>>());
  }
  EXPECT_THAT(top_classes(Numbers{1, 3}, 5), ElementsAre(1, 0));
  EXPECT_THAT(top_classes(Numbers{1, 3}, 0), ElementsAre());
}

TEST(Scores, SoftmaxGivesTheGoldenProbabilities) {
  const tests::GoldenPredictions& golden = tests::golden_predictions();
  EXPECT_THAT(softmax(golden.logit_scores()),
              Pointwise(DoubleNear(1e-7), golden.probabilities));  // stored as float32
}

TEST(Scores, SoftmaxOfExtremesIsFinite) {
  const Numbers logits{1e4, -1e4, 1e307, -1e307};
  EXPECT_THAT(softmax(Scores(logits, 2)), ElementsAre(1, 0, 1, 0));
  EXPECT_THAT(softmax(Scores(logits, 2), 1e307),
              Pointwise(DoubleNear(1e-6), {.5, .5, .880797, .119203}));
}

TEST(Scores, RefuseWhatIsNoTable) {
  const Numbers values{1, 2, 3, 4};
  const Numbers broken{1, std::numeric_limits<double>::quiet_NaN()};
  EXPECT_THROW(Scores(values, 3), std::invalid_argument);
  EXPECT_THROW(Scores(values, 0), std::invalid_argument);
  EXPECT_THROW(Scores(Numbers{}, 3), std::invalid_argument);
  EXPECT_THROW(Scores(broken, 2), std::invalid_argument);
  const Scores scores(values, 2);
  using Indices = std::vector<std::int64_t>;
  EXPECT_NO_THROW(require_labels(scores, Indices{0, 1}));
  for (const Indices& labels : {Indices{0}, Indices{0, 2}, Indices{-1, 0}}) {
    EXPECT_THROW(require_labels(scores, labels), std::invalid_argument);
  }
}

}  // namespace
}  // namespace vitascope::metrics
