#include "vit/train/class_weights.h"

#include <gmock/gmock.h>

#include <numeric>
#include <stdexcept>

#include "tests/golden.h"
#include "vit/error.h"
#include "vit/json.h"

namespace vitascope::train {
namespace {

using Counts = std::vector<std::int64_t>;
using Numbers = std::vector<double>;
using testing::DoubleNear;
using testing::Pointwise;

TEST(ClassWeights, AreWhatScikitLearnAndTheFormulaGive) {
  const Json golden = read_json(vitascope::tests::golden("measures.json")).at("class_weights");
  ASSERT_EQ(golden.size(), 3);
  for (const Json& item : golden) {
    const Counts counts = item.at("counts");
    EXPECT_THAT(inverse_class_weights(counts),
                Pointwise(DoubleNear(1e-9), item.at("inverse").get<Numbers>()));
    EXPECT_THAT(effective_number_weights(counts, item.at("beta")),
                Pointwise(DoubleNear(1e-9), item.at("effective_number").get<Numbers>()));
  }
}

TEST(ClassWeights, InverseOnesHaveTheMeanOneOverSamples) {
  const Counts counts{3, 0, 50, 7};
  const Numbers weights = inverse_class_weights(counts);
  EXPECT_NEAR(std::inner_product(counts.begin(), counts.end(), weights.begin(), 0.), 60, 1e-12);
}

TEST(ClassWeights, EffectiveNumbersGoFromEqualToInverse) {
  const Counts counts{10, 90, 900};
  EXPECT_THAT(effective_number_weights(counts, 0), Pointwise(DoubleNear(1e-15), {1., 1., 1.}));
  const Numbers nearly_inverse = effective_number_weights(counts, 1 - 1e-12);
  EXPECT_NEAR(nearly_inverse[0] / nearly_inverse[2], 90, 1e-6);
}

TEST(ClassWeights, RefuseWhatHasNoMeaning) {
  EXPECT_THROW(inverse_class_weights(Counts{0, 0}), std::invalid_argument);
  EXPECT_THROW(inverse_class_weights(Counts{}), std::invalid_argument);
  EXPECT_THROW(inverse_class_weights(Counts{1, -1}), std::invalid_argument);
  EXPECT_THROW(effective_number_weights(Counts{1}, 1), UsageError);
  EXPECT_THROW(effective_number_weights(Counts{1}, -.1), UsageError);
}

}  // namespace
}  // namespace vitascope::train
