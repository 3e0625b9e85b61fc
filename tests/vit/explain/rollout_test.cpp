#include "vit/explain/rollout.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include "tests/vit/explain/golden_vit.h"
#include "tests/vit/model/tiny_model.h"

namespace vitascope::explain {
namespace {

/// The golden files' names for how much is discarded and by which rule.
struct Discard {
  const char* tag;
  double share;
  DiscardRule rule;
};

class Rollout : public tests::GoldenExplanation {};

TEST_P(Rollout, GivesWhatPythonGave) {
  const Recorded recorded = vit.record({.attention = true});
  constexpr std::pair<const char*, HeadFusion> kFusions[] = {
      {"mean", HeadFusion::mean}, {"max", HeadFusion::max}, {"min", HeadFusion::min}};
  constexpr Discard kDiscards[] = {{"discard0", 0, DiscardRule::keep_first},
                                   {"discard0.5", 0.5, DiscardRule::keep_first},
                                   {"discard0.5_keepclscol", 0.5, DiscardRule::keep_class_column},
                                   {"discard0.9", 0.9, DiscardRule::keep_first}};
  for (const auto& [name, fusion] : kFusions) {
    for (const Discard& discard : kDiscards) {
      expect_golden(rollout(recorded, {fusion, discard.share, discard.rule}),
                    std::string("map.rollout.") + name + "." + discard.tag);
    }
  }
}

TEST_P(Rollout, OfAllTokensIsTheWholeMatrix) {
  const Recorded recorded = vit.record({.attention = true});
  const at::Tensor identity = at::eye(recorded.readout.size(1));
  EXPECT_LE(tests::relative_difference(rollout_rows(recorded, {}, identity),
                                       vit["rollout.matrix.mean.discard0"]),
            tests::kRelative);
}

TEST_P(Rollout, OfGradientsGivesWhatPythonGave) {
  constexpr Discard kDiscards[] = {{"discard0", 0, DiscardRule::keep_first},
                                   {"discard0.5", 0.5, DiscardRule::keep_first},
                                   {"discard0.9", 0.9, DiscardRule::keep_first},
                                   {"discard0.9_noexempt", 0.9, DiscardRule::keep_nothing}};
  for (const std::int64_t index : vit.classes()) {
    const Recorded recorded = vit.record({.attention_gradients = true}, index);
    for (const Discard& discard : kDiscards) {
      const Map map = gradient_rollout(recorded, {.discard = discard.share, .rule = discard.rule});
      expect_golden(map, "map.gradrollout.class" + std::to_string(index) + "." + discard.tag);
      EXPECT_EQ(map.class_index, index);
    }
  }
}

VITASCOPE_FOR_GOLDEN_VITS(Rollout);

at::Tensor discarded(double share, DiscardRule rule) {
  at::Tensor fused = at::tensor({1.F, 2.F, 2.F, 2.F, 9.F, 4.F, 3.F, 2.F, 5.F}).reshape({3, 3});
  discard_lowest(fused, share, rule);
  return fused.flatten();
}

TEST(DiscardLowest, OfEqualEntriesTheFirstGo) {
  // 3 of 9: the first entry and the first two of the 2s.
  EXPECT_TRUE(at::equal(discarded(0.34, DiscardRule::keep_nothing),
                        at::tensor({0.F, 0.F, 0.F, 2.F, 9.F, 4.F, 3.F, 2.F, 5.F})));
  EXPECT_TRUE(at::equal(discarded(0.34, DiscardRule::keep_first),
                        at::tensor({1.F, 0.F, 0.F, 2.F, 9.F, 4.F, 3.F, 2.F, 5.F})));
  // 3 of the 6 outside the first column.
  EXPECT_TRUE(at::equal(discarded(0.5, DiscardRule::keep_class_column),
                        at::tensor({1.F, 0.F, 0.F, 2.F, 9.F, 4.F, 3.F, 0.F, 5.F})));
  EXPECT_TRUE(at::equal(discarded(0.1, DiscardRule::keep_nothing),
                        discarded(0, DiscardRule::keep_nothing)));
}

TEST(RolloutOptions, AreCheckedAgainstTheModel) {
  model::Config config = model::tests::tiny_config();
  config.class_token = false;
  config.position_prefix = 0;
  config.pooling = model::Pooling::mean_patches;
  const Recorded recorded =
      record(model::tests::random_weights(config), at::randn({1, 3, 8, 12}), {.attention = true});
  EXPECT_THROW(rollout(recorded, {.discard = 1}), std::invalid_argument);
  EXPECT_THROW(rollout(recorded, {.discard = -0.1}), std::invalid_argument);
  EXPECT_THROW(rollout(recorded, {.discard = 0.5, .rule = DiscardRule::keep_class_column}),
               std::invalid_argument);
  // Rows of A sum to 1, so those of the product do; without a class token all of it lies on
  // patches.
  EXPECT_NEAR(rollout(recorded, {.discard = 0.5}).values.sum().item<double>(), 1, 1e-5);
}

}  // namespace
}  // namespace vitascope::explain
