#include "vit/model/vision_transformer.h"

#include <ATen/TensorIndexing.h>
#include <ATen/core/grad_mode.h>
#include <gtest/gtest.h>
#include <torch/csrc/autograd/autograd.h>

#include <stdexcept>

#include "kernels/attention.h"
#include "tests/vit/model/tiny_model.h"

namespace vitascope::model {
namespace {

TEST(VisionTransformer, HasASlotForEveryParameterShape) {
  Config config = tests::tiny_config();
  config.layer_scale = config.qk_norm = config.fc_norm = config.pre_norm = true;
  config.registers = 2;
  VisionTransformer network(config);
  const auto shapes = parameter_shapes(config);
  const auto slots = network.parameters();
  ASSERT_EQ(slots.size(), shapes.size());
  for (std::size_t i = 0; i < slots.size(); ++i) EXPECT_EQ(slots[i].first, shapes[i].name);
}

TEST(VisionTransformer, TraceAndTimesAreWrittenOnlyWhenAsked) {
  const VisionTransformer network = tests::random_weights(tests::tiny_config());
  const at::Tensor pixels = at::randn({2, 3, 8, 12});
  Trace trace;
  trace.want_hidden_states = trace.want_queries_and_keys = true;
  PartTimes times;
  const Output traced = network.forward(pixels, {.trace = &trace, .times = &times});
  const Output plain = network.forward(pixels);
  EXPECT_TRUE(at::equal(traced.logits, plain.logits));
  ASSERT_EQ(trace.hidden_states.size(), 3);
  ASSERT_EQ(trace.queries.size(), 2);
  EXPECT_EQ(trace.keys[1].sizes(), (std::vector<std::int64_t>{2, 3, 7, 4}));
  EXPECT_GT(times.embed, 0);
  EXPECT_GT(times.attention, 0);
  EXPECT_GT(times.mlp, 0);
  EXPECT_GT(times.head, 0);

  Trace nothing;
  network.forward(pixels, {.trace = &nothing});
  EXPECT_TRUE(nothing.hidden_states.empty() && nothing.queries.empty() && nothing.keys.empty());
}

TEST(VisionTransformer, RecordedStatesAreNotChangedByLaterBlocks) {
  const VisionTransformer network = tests::random_weights(tests::tiny_config());
  const at::Tensor pixels = at::randn({1, 3, 8, 12});
  Trace trace;
  trace.want_hidden_states = true;
  network.forward(pixels, {.trace = &trace});
  Config shallow = tests::tiny_config();
  shallow.depth = 1;
  Trace first;
  first.want_hidden_states = true;
  VisionTransformer one(shallow);
  VisionTransformer whole = network;
  for (auto& [name, slot] : one.parameters()) {
    for (auto& [other, source] : whole.parameters()) {
      if (name == other) *slot = *source;
    }
  }
  one.forward(pixels, {.trace = &first});
  EXPECT_TRUE(at::equal(trace.hidden_states[1], first.hidden_states[1]));
}

TEST(VisionTransformer, ForwardFromAnyBlockGivesWhatTheWholeGives) {
  const VisionTransformer network = tests::random_weights(tests::tiny_config());
  Trace trace;
  trace.want_hidden_states = true;
  const Output whole = network.forward(at::randn({2, 3, 8, 12}), {.trace = &trace});
  for (int first = 0; first <= 2; ++first) {
    const at::Tensor& hidden = trace.hidden_states[static_cast<std::size_t>(first)];
    EXPECT_TRUE(at::equal(network.forward_from(hidden, first).logits, whole.logits)) << first;
  }
}

TEST(VisionTransformer, AttentionOutputsHaveGradientsThoughNothingElseDoes) {
  const VisionTransformer network = tests::random_weights(tests::tiny_config());
  Trace trace;
  trace.want_attention_outputs = trace.want_last_norm1 = trace.want_values = true;
  const at::Tensor pixels = at::randn({1, 3, 8, 12});
  const Output output = network.forward(pixels, {.trace = &trace});
  ASSERT_EQ(trace.attention_outputs.size(), 2);
  ASSERT_EQ(trace.values.size(), 2);
  EXPECT_TRUE(trace.attention_outputs[0].is_leaf());
  const auto gradients = torch::autograd::grad(
      {output.logits[0][3]},
      {trace.attention_outputs[0], trace.attention_outputs[1], trace.last_norm1});
  for (const at::Tensor& gradient : gradients) EXPECT_GT(gradient.abs().max().item<double>(), 0);

  Trace plain;
  plain.want_attention_outputs = plain.want_last_norm1 = true;
  const at::NoGradGuard guard;
  EXPECT_TRUE(at::equal(network.forward(pixels, {.trace = &plain}).logits, output.logits));
  EXPECT_FALSE(plain.attention_outputs[0].requires_grad());
  EXPECT_TRUE(at::equal(plain.last_norm1, trace.last_norm1));
}

/// The probabilities of a block, and pixels that they belong to.
struct SecondBlock {
  VisionTransformer network = tests::random_weights(tests::tiny_config());
  at::Tensor pixels = at::randn({2, 3, 8, 12});
  Trace trace;
  at::Tensor logits, probabilities;

  SecondBlock() {
    trace.want_queries_and_keys = true;
    logits = network.forward(pixels, {.trace = &trace}).logits;
    probabilities = kernels::attention_map(trace.queries[1], trace.keys[1], trace.lse[1]);
  }
  double change(const Intervention& intervention) const {
    const at::Tensor other = network.forward(pixels, {.interventions = {intervention}}).logits;
    return (other - logits).abs().max().item<double>();
  }
};

TEST(VisionTransformer, ItsOwnProbabilitiesAsAnInterventionChangeNothing) {
  const SecondBlock own;
  EXPECT_LT(own.change({.layer = 1, .weights = own.probabilities}), 1e-5);
  EXPECT_LT(own.change({.layer = 1,
                        .heads = {2, 0},
                        .rows = {0, 5, 3},
                        .weights = own.probabilities.index({at::indexing::Slice(),
                                                            at::tensor({2, 0}).unsqueeze(1),
                                                            at::tensor({0, 5, 3})})}),
            1e-5);
}

TEST(VisionTransformer, OtherProbabilitiesChangeTheirHeadsAndRowsAlone) {
  const SecondBlock own;
  const at::Tensor uniform = at::full({1, 1, 1, 7}, 1.0 / 7);
  EXPECT_GT(own.change({.layer = 1, .weights = uniform}), 1e-3);
  const double one = own.change({.layer = 1, .heads = {1}, .rows = {0}, .weights = uniform});
  EXPECT_GT(one, 1e-4);
  // The last block's other rows reach no class token.
  EXPECT_EQ(own.change({.layer = 1, .rows = {1, 2, 3, 4, 5, 6}, .weights = uniform}), 0);
  EXPECT_GT(own.change({.layer = 0, .rows = {1, 2, 3, 4, 5, 6}, .weights = uniform}), 1e-4);
  at::Tensor mixed = own.probabilities.clone();
  mixed.select(1, 1).select(1, 0).fill_(1.0 / 7);
  EXPECT_NEAR(own.change({.layer = 1, .weights = mixed}), one, 1e-5);
}

TEST(VisionTransformer, GradientsFlowThroughAnInterventionsWeights) {
  const SecondBlock own;
  const at::Tensor weights = at::full({1, 3, 1, 7}, 1.0 / 7).requires_grad_();
  const Intervention intervention{.layer = 1, .rows = {0}, .weights = weights};
  const Output output = own.network.forward(own.pixels, {.interventions = {intervention}});
  const auto gradient = torch::autograd::grad({output.logits[0][2]}, {weights});
  EXPECT_GT(gradient[0].abs().max().item<double>(), 0);
}

TEST(VisionTransformer, AnInterventionNamesTheHeadThatDoesNotExist) {
  const SecondBlock own;
  const at::Tensor uniform = at::full({1, 1, 1, 7}, 1.0 / 7);
  EXPECT_THROW(own.change({.layer = 0, .heads = {3}, .weights = uniform}), std::invalid_argument);
  EXPECT_THROW(own.change({.layer = 0, .rows = {-1}, .weights = uniform}), std::invalid_argument);
}

TEST(VisionTransformer, MultiLabelProbabilitiesAreIndependent) {
  Config config = tests::tiny_config();
  const at::Tensor logits = at::tensor({0.0, 1.0}).reshape({1, 2});
  EXPECT_NEAR(VisionTransformer(config).probabilities(logits).sum().item<double>(), 1, 1e-6);
  config.multi_label = true;
  const at::Tensor each = VisionTransformer(config).probabilities(logits);
  EXPECT_NEAR(each[0][0].item<double>(), 0.5, 1e-6);
  EXPECT_NEAR(each[0][1].item<double>(), 1 / (1 + std::exp(-1.0)), 1e-6);
}

TEST(VisionTransformer, LargeBatchesGiveWhatSmallOnesGive) {
  // 200 photos of 7 tokens are more rows than the MLP takes at a time.
  for (const bool swiglu : {false, true}) {
    Config config = tests::tiny_config();
    config.swiglu = swiglu;
    config.layer_scale = true;
    const VisionTransformer network = tests::random_weights(config);
    const c10::InferenceMode guard;
    const at::Tensor pixels = at::randn({200, 3, 8, 12});
    const at::Tensor together = network.forward(pixels).tokens;
    for (const std::int64_t begin : {0, 100, 140}) {
      const at::Tensor few = network.forward(pixels.narrow(0, begin, 60)).tokens;
      EXPECT_TRUE(at::allclose(together.narrow(0, begin, 60), few, 1e-5, 1e-5)) << swiglu << begin;
    }
  }
}

TEST(VisionTransformer, RefusesAnInputThatPatchesDoNotFit) {
  const VisionTransformer network = tests::random_weights(tests::tiny_config());
  EXPECT_THROW(network.forward(at::randn({1, 3, 9, 12})), std::invalid_argument);
}

TEST(VisionTransformer, GradientsReachEveryParameter) {
  Config config = tests::tiny_config();
  config.layer_scale = config.qk_norm = true;
  VisionTransformer network = tests::random_weights(config);
  for (auto& [name, slot] : network.parameters()) slot->requires_grad_(true);
  network.forward(at::randn({2, 3, 8, 12})).logits.square().sum().backward();
  for (auto& [name, slot] : network.parameters()) {
    ASSERT_TRUE(slot->grad().defined()) << name;
    EXPECT_GT(slot->grad().abs().max().item<double>(), 0) << name;
  }
}

}  // namespace
}  // namespace vitascope::model
