#include "vit/model/heads.h"

#include <gtest/gtest.h>

#include "tests/vit/model/tiny_model.h"

namespace vitascope::model {
namespace {

TEST(Pool, ReadsTheTokensThatTheFamilySays) {
  Config config = tests::tiny_config();
  config.registers = 2;
  const at::Tensor tokens = at::randn({2, 3 + 6, 12});
  const at::Tensor mean = tokens.slice(1, 3).sum(1) / 6;

  config.pooling = Pooling::class_token;
  EXPECT_TRUE(at::equal(pool(tokens, config), tokens.select(1, 0)));
  config.pooling = Pooling::mean_patches;
  EXPECT_TRUE(at::allclose(pool(tokens, config), mean));
  config.pooling = Pooling::class_and_mean;
  EXPECT_TRUE(at::allclose(pool(tokens, config), at::cat({tokens.select(1, 0), mean}, 1)));
  config.pooling = Pooling::first_two;
  EXPECT_TRUE(at::equal(pool(tokens, config), tokens.slice(1, 0, 2)));
}

TEST(Head, DistilledLogitsAreTheMeanOfBothHeads) {
  Head head;
  head.head = {at::randn({5, 12}), at::randn({5})};
  head.head_dist = {at::randn({5, 12}), at::randn({5})};
  const at::Tensor features = at::randn({3, 2, 12});
  const at::Tensor expected =
      (at::linear(features.select(1, 0), head.head.weight, head.head.bias) +
       at::linear(features.select(1, 1), head.head_dist.weight, head.head_dist.bias)) /
      2;
  EXPECT_TRUE(at::allclose(head.logits(features), expected));
}

TEST(Head, ABackboneHasNoLogits) { EXPECT_FALSE(Head{}.logits(at::randn({1, 12})).defined()); }

}  // namespace
}  // namespace vitascope::model
