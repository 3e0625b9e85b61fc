#include "vit/explain/record.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include "tests/vit/explain/golden_vit.h"
#include "tests/vit/model/tiny_model.h"
#include "vit/explain/layer.h"

namespace vitascope::explain {
namespace {

using tests::kRelative;
using tests::relative_difference;

class Record : public tests::GoldenExplanation {};

TEST_P(Record, LayersAndTheirGradientsAreWhatPythonGave) {
  Recorded recorded = vit.record({.attention_gradients = true, .norm1_gradient = true});
  EXPECT_LE(relative_difference(recorded.output.logits.detach(), vit["logits"]), kRelative);
  EXPECT_LE(relative_difference(recorded.trace.last_norm1.detach(), vit["blocks.2.norm1"]),
            kRelative);
  for (const std::int64_t index : vit.classes()) {
    take_gradients(vit.network, recorded, {index});
    const std::string of_class = "class" + std::to_string(index);
    EXPECT_LE(relative_difference(recorded.norm1_gradient, vit["blocks.2.norm1_grad." + of_class]),
              kRelative);
    for (int number = 0; number < depth(recorded); ++number) {
      const Layer layer(recorded, number, 0);
      const std::string block = "blocks." + std::to_string(number);
      const at::Tensor attention = vit[block + ".attn"];
      const at::Tensor gradient = vit[block + ".attn_grad." + of_class];
      EXPECT_LE(relative_difference(layer.mean_probabilities(), attention.mean(0)), kRelative);
      std::vector<at::Tensor> probabilities, gradients;
      for (int head = 0; head < layer.heads(); ++head) {
        probabilities.push_back(layer.probabilities(head));
        gradients.push_back(layer.gradient(head, recorded.output_gradients));
      }
      EXPECT_LE(relative_difference(at::stack(probabilities), attention), kRelative) << block;
      EXPECT_LE(relative_difference(at::stack(gradients), gradient), kRelative) << block;
    }
  }
}

TEST_P(Record, PermutedWeightsOfTheLastClassTokenGiveWhatPythonGave) {
  const c10::InferenceMode inference;
  const Recorded recorded = vit.record({.attention = true});
  const model::Trace& trace = recorded.trace;
  const at::Tensor row = kernels::attention_map(trace.queries[2], trace.keys[2], trace.lse[2], {},
                                                {.rows = at::zeros({1}, at::kLong)});
  const at::Tensor permutations = vit["permutation.index"].to(at::kLong);
  std::vector<at::Tensor> distances;
  for (std::int64_t i = 0; i < permutations.size(0); ++i) {
    const model::Intervention permuted{
        .layer = 2, .rows = {0}, .weights = row.index_select(3, permutations[i])};
    const model::Output output = vit.network.forward(vit["image"], {.interventions = {permuted}});
    distances.push_back(
        (at::softmax(output.logits, -1) - vit["probs"]).abs().sum().div(2).reshape({1}));
  }
  EXPECT_LE(relative_difference(at::cat(distances), vit["permutation.tvd"]), kRelative);
}

VITASCOPE_FOR_GOLDEN_VITS(Record);

TEST(RecordedBatch, GivesEachPictureItsOwnGradients) {
  const model::VisionTransformer network =
      model::tests::random_weights(model::tests::tiny_config());
  const at::Tensor pixels = at::randn({2, 3, 8, 12});
  const Wanted wanted{.attention_gradients = true, .layer_gradients = true, .norm1_gradient = true};
  Recorded both = record(network, pixels, wanted);
  take_gradients(network, both, {4, 1});
  Recorded second = record(network, pixels.slice(0, 1), wanted);
  take_gradients(network, second, {1});
  const auto expect_same = [](const at::Tensor& batch, const at::Tensor& alone) {
    EXPECT_LE(relative_difference(batch.slice(0, 1), alone), kRelative);
    EXPECT_GT((batch[0] - batch[1]).abs().max().item<double>(), 1e-4);
  };
  expect_same(both.output_gradients[0], second.output_gradients[0]);
  expect_same(both.layer_gradients[1], second.layer_gradients[1]);
  expect_same(both.norm1_gradient, second.norm1_gradient);
}

TEST(RecordedPass, KeepsAGraphOnlyWhereGradientsAreWanted) {
  const model::VisionTransformer network =
      model::tests::random_weights(model::tests::tiny_config());
  const at::Tensor pixels = at::randn({1, 3, 8, 12});
  const Recorded plain = record(network, pixels, {.attention = true});
  EXPECT_TRUE(plain.output.logits.is_inference());
  EXPECT_TRUE(plain.trace.values.empty() && plain.trace.attention_outputs.empty());
  // The caller may be in inference mode; gradients are there all the same.
  const c10::InferenceMode inference;
  Recorded recorded = record(network, pixels.clone(), {.attention_gradients = true});
  take_gradients(network, recorded, {0});
  EXPECT_EQ(recorded.output_gradients.size(), 2);
}

TEST(RecordedPass, NamesAClassThatDoesNotExist) {
  model::Config config = model::tests::tiny_config();
  const at::Tensor pixels = at::randn({1, 3, 8, 12});
  const model::VisionTransformer network = model::tests::random_weights(config);
  Recorded recorded = record(network, pixels, {.norm1_gradient = true});
  EXPECT_THROW(take_gradients(network, recorded, {5}), std::invalid_argument);
  EXPECT_THROW(take_gradients(network, recorded, {-1}), std::invalid_argument);
  EXPECT_THROW(take_gradients(network, recorded, {1, 2}), std::invalid_argument);
  config.classes = 0;
  const model::VisionTransformer backbone = model::tests::random_weights(config);
  Recorded headless = record(backbone, pixels, {.norm1_gradient = true});
  EXPECT_THROW(take_gradients(backbone, headless, {0}), std::invalid_argument);
}

}  // namespace
}  // namespace vitascope::explain
