#include "vit/model/recompute.h"

#include <gtest/gtest.h>

#include <map>

#include "tests/vit/model/tiny_model.h"

namespace vitascope::model {
namespace {

std::map<std::string, at::Tensor> gradients(const Training& training) {
  Config config = tests::tiny_config();
  config.layer_scale = true;
  VisionTransformer network = tests::random_weights(config);
  for (auto& [name, slot] : network.parameters()) slot->requires_grad_(true);
  at::manual_seed(3);
  const at::Tensor pixels = at::randn({2, 3, 8, 12});
  network.forward(pixels, {.training = training}).logits.square().sum().backward();
  std::map<std::string, at::Tensor> result;
  for (auto& [name, slot] : network.parameters()) result.emplace(name, slot->grad());
  return result;
}

TEST(Recomputed, GivesTheSameGradientsOfEveryParameter) {
  const at::Tensor scales = at::tensor({1.0, 0.0, 2.0, 1.0, 0.0, 2.0, 1.0, 1.0}).view({2, 2, 2});
  for (const at::Tensor& branches : {at::Tensor(), scales.to(at::kFloat)}) {
    const auto kept = gradients({.branch_scales = branches});
    const auto again = gradients({.branch_scales = branches, .recompute = true});
    for (const auto& [name, gradient] : kept) {
      ASSERT_TRUE(gradient.defined() && again.at(name).defined()) << name;
      EXPECT_TRUE(at::equal(gradient, again.at(name))) << name;
    }
  }
}

TEST(Recomputed, ReachesParametersThoughNothingBeforeThemLearns) {
  VisionTransformer network = tests::random_weights(tests::tiny_config());
  at::Tensor* learns = network.products().front().second->weight.defined()
                           ? &network.products().front().second->weight
                           : nullptr;
  ASSERT_NE(learns, nullptr);
  learns->requires_grad_(true);
  const Output output =
      network.forward(at::randn({1, 3, 8, 12}), {.training = {.recompute = true}});
  output.logits.square().sum().backward();
  ASSERT_TRUE(learns->grad().defined());
  EXPECT_GT(learns->grad().abs().max().item<double>(), 0);
}

TEST(DropPath, ABranchThatIsLeftOutIsNotInTheAnswer) {
  const VisionTransformer network = tests::random_weights(tests::tiny_config());
  const at::Tensor pixels = at::randn({2, 3, 8, 12});
  Trace trace;
  trace.want_hidden_states = true;
  const at::Tensor none = at::zeros({2, 2, 2});
  network.forward(pixels, {.trace = &trace, .training = {.branch_scales = none}});
  EXPECT_TRUE(at::equal(trace.hidden_states[0], trace.hidden_states[2]));

  at::Tensor first = at::ones({2, 2, 2});
  first.select(2, 1).zero_();  // the second sample's branches
  const at::Tensor whole = network.forward(pixels).tokens;
  const at::Tensor half = network.forward(pixels, {.training = {.branch_scales = first}}).tokens;
  EXPECT_TRUE(at::allclose(whole[0], half[0], 1e-5, 1e-6));
  EXPECT_FALSE(at::allclose(whole[1], half[1], 1e-2, 1e-2));
}

TEST(Training, DropoutScalesWhatTheHeadReads) {
  for (const Pooling pooling : {Pooling::class_token, Pooling::class_and_mean}) {
    Config config = tests::tiny_config();
    config.pooling = pooling;
    const VisionTransformer network = tests::random_weights(config);
    const at::Tensor pixels = at::randn({2, 3, 8, 12});
    at::Tensor scales = at::full({2, config.feature_width()}, 1.5);
    scales[1].zero_();
    const Output plain = network.forward(pixels);
    const Output scaled = network.forward(pixels, {.training = {.feature_scales = scales}});
    const at::Tensor bias =
        network
            .forward_from(at::zeros_like(plain.tokens), config.depth,
                          {.training = {.feature_scales = at::zeros_like(scales)}})
            .logits[0];
    EXPECT_TRUE(at::allclose(scaled.logits[0] - bias, 1.5 * (plain.logits[0] - bias), 1e-4, 1e-4));
    EXPECT_TRUE(at::allclose(scaled.logits[1], bias, 1e-5, 1e-5));
    EXPECT_TRUE(at::equal(scaled.features, plain.features));
  }
}

}  // namespace
}  // namespace vitascope::model
