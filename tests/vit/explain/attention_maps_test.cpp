#include "vit/explain/attention_maps.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include "tests/vit/explain/golden_vit.h"
#include "tests/vit/model/tiny_model.h"

namespace vitascope::explain {
namespace {

using tests::kRelative;
using tests::relative_difference;

class AttentionMaps : public tests::GoldenExplanation {
 protected:
  Recorded recorded = vit.record({.attention = true});
};

TEST_P(AttentionMaps, OfEveryLayerAndHeadAreWhatPythonGave) {
  const at::Tensor raw = vit["map.raw"];
  const at::Tensor mean = vit["map.raw_headmean"];
  for (int layer = 0; layer < raw.size(0); ++layer) {
    for (int head = 0; head < raw.size(1); ++head) {
      const Map map = attention_map(recorded, {.layer = layer, .head = head});
      EXPECT_LE(relative_difference(map.values, raw[layer][head]), kRelative) << layer << head;
    }
    const auto fused = [&](HeadFusion fusion) {
      return attention_map(recorded, {.layer = layer, .fusion = fusion}).values;
    };
    EXPECT_LE(relative_difference(fused(HeadFusion::mean), mean[layer]), kRelative) << layer;
    EXPECT_LE(relative_difference(fused(HeadFusion::max), raw[layer].amax(0)), kRelative) << layer;
    EXPECT_LE(relative_difference(fused(HeadFusion::min), raw[layer].amin(0)), kRelative) << layer;
  }
  const Map last = attention_map(recorded);
  EXPECT_EQ(last.layer, 2);
  EXPECT_LE(relative_difference(last.values, mean[2]), kRelative);
}

TEST_P(AttentionMaps, FromPatchesAreWhatPythonGave) {
  const model::Grid grid = recorded.grid;
  for (const int patch : {0, grid.columns + 1, grid.count() - 1}) {
    const at::Tensor expected = vit["map.patch" + std::to_string(patch)];
    for (int layer = 0; layer < 3; ++layer) {
      const Map map = attention_map(recorded, {.layer = layer, .head = 1, .patch = patch});
      EXPECT_LE(relative_difference(map.values, expected[layer][1]), kRelative) << patch;
      EXPECT_EQ(map.patch, patch);
      const Map mean = attention_map(recorded, {.layer = layer, .patch = patch});
      EXPECT_LE(relative_difference(mean.values, expected[layer].mean(0)), kRelative) << patch;
    }
  }
}

TEST_P(AttentionMaps, WhatDoesNotExistIsNamed) {
  EXPECT_THROW(attention_map(recorded, {.layer = 3}), std::invalid_argument);
  EXPECT_THROW(attention_map(recorded, {.layer = -1}), std::invalid_argument);
  EXPECT_THROW(attention_map(recorded, {.head = 3}), std::invalid_argument);
  EXPECT_THROW(attention_map(recorded, {.patch = recorded.grid.count()}), std::invalid_argument);
  EXPECT_THROW(attention_map(recorded, {}, 1), std::invalid_argument);
}

VITASCOPE_FOR_GOLDEN_VITS(AttentionMaps);

/// Probabilities of the last layer [H, N, N] as the formula gives them.
at::Tensor by_formula(const Recorded& recorded) {
  const at::Tensor q = recorded.trace.queries.back()[0];
  const at::Tensor k = recorded.trace.keys.back()[0];
  return at::softmax(q.matmul(k.transpose(1, 2)) / std::sqrt(double(q.size(2))), -1);
}

/// What a small model's pass left behind.
Recorded tiny(void (*change)(model::Config&)) {
  model::Config config = model::tests::tiny_config();
  change(config);
  const model::VisionTransformer network = model::tests::random_weights(config);
  return record(network, at::randn({1, 3, 8, 12}), {.attention = true});
}

TEST(AttentionMap, OfMeanPooledModelsIsTheMeanOverPatches) {
  // The class token is there, but the head does not read it.
  const Recorded recorded =
      tiny([](model::Config& config) { config.pooling = model::Pooling::mean_patches; });
  const at::Tensor rows = by_formula(recorded).slice(1, 1).mean(1).slice(1, 1);  // [H, patches]
  EXPECT_LE(
      relative_difference(attention_map(recorded, {.head = 2}).values, rows[2].reshape({2, 3})),
      kRelative);
  EXPECT_LE(relative_difference(attention_map(recorded, {.fusion = HeadFusion::max}).values,
                                rows.amax(0).reshape({2, 3})),
            kRelative);
}

TEST(AttentionMap, OfDistilledModelsIsTheMeanOfBothTokens) {
  const Recorded recorded = tiny([](model::Config& config) {
    config.distillation_token = true;
    config.position_prefix = 2;
    config.pooling = model::Pooling::first_two;
  });
  const at::Tensor expected = by_formula(recorded).slice(1, 0, 2).mean(1).mean(0).slice(0, 2);
  EXPECT_LE(relative_difference(attention_map(recorded).values, expected.reshape({2, 3})),
            kRelative);
}

}  // namespace
}  // namespace vitascope::explain
