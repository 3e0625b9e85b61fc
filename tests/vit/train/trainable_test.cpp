#include "vit/train/trainable.h"

#include <ATen/core/grad_mode.h>
#include <gtest/gtest.h>

#include "tests/vit/model/tiny_model.h"
#include "tests/vit/train/golden_training.h"
#include "vit/train/loss.h"
#include "vit/weights/key_names.h"
#include "vit/weights/model_directory.h"
#include "vit/weights/tensor_assembly.h"

namespace vitascope::train {
namespace {

/// What Python's autograd gave for the weights of a golden model.
class GoldenGradients : public testing::TestWithParam<const char*> {};

/// Names that a parameter's gradient has in the file: timm's own, or several of transformers'.
std::vector<std::string> names_of(const std::string& parameter, const model::Config& config,
                                  const weights::StoredTensors& expected) {
  if (expected.tensors.contains("grad." + parameter)) return {parameter};
  if (!config.class_token || !expected.tensors.contains("labels")) return {};
  try {
    return weights::transformers_names(parameter, config);
  } catch (const std::exception&) {
    return {};
  }
}

TEST_P(GoldenGradients, AreThoseOfTheTrainingPath) {
  const std::string folder = vitascope::tests::golden(std::string("models/") + GetParam());
  const weights::StoredTensors expected =
      weights::read_safetensors(folder + "/expected.safetensors");
  const auto tensor = [&](const std::string& name) {
    return weights::view_of(expected.tensors.at(name));
  };
  std::size_t wanted = 0;
  for (const auto& [name, stored] : expected.tensors) wanted += name.starts_with("grad.");
  ASSERT_GE(wanted, 5u);
  for (const bool recompute : {false, true}) {
    model::VisionTransformer network = weights::open_model(folder).network;
    const model::Config& config = network.config();
    const auto parameters = make_trainable(network, Tuning::full, {}, at::kFloat);
    const at::Tensor logits =
        network.forward(tensor("pixel_values"), {.training = {.recompute = recompute}}).logits;
    const at::Tensor targets =
        at::zeros_like(logits.detach()).scatter_(1, tensor("labels").view({-1, 1}), 1);
    const at::Tensor loss = sample_losses(logits, targets, {}).mean();
    EXPECT_NEAR(loss.item<double>(), tensor("loss").item<double>(), 5e-6);
    loss.backward();
    std::size_t compared = 0;
    for (const Parameter& parameter : parameters) {
      const auto names = names_of(parameter.name, config, expected);
      if (names.empty()) continue;
      const auto parts = parameter.tensor.grad().chunk(static_cast<std::int64_t>(names.size()), 0);
      for (std::size_t i = 0; i < names.size(); ++i) {
        if (!expected.tensors.contains("grad." + names[i])) continue;
        const at::Tensor exact = tensor("grad." + names[i]);
        EXPECT_LE(tests::relative_error(parts[i].reshape(exact.sizes()), exact), 1e-5) << names[i];
        ++compared;
      }
    }
    EXPECT_EQ(compared, wanted);
  }
}

INSTANTIATE_TEST_SUITE_P(Families, GoldenGradients,
                         testing::Values("hf-vit", "hf-deit-distilled", "hf-dinov2",
                                         "hf-dinov2-reg-swiglu", "timm-vit", "timm-deit3-pth",
                                         "timm-vit-gap", "timm-vit-gap-cls", "augreg-npz"));

TEST(MakeTrainable, ChoosesWhatLearnsAndLeavesTheOriginalAlone) {
  const model::VisionTransformer original =
      model::tests::random_weights(model::tests::tiny_config());
  model::VisionTransformer network = original;
  const auto parameters = make_trainable(network, Tuning::bias, {}, at::kFloat);
  for (const Parameter& parameter : parameters) {
    EXPECT_TRUE(parameter.name.ends_with(".bias") || parameter.name == "head.weight");
    EXPECT_TRUE(parameter.tensor.requires_grad() && parameter.tensor.is_leaf());
  }
  EXPECT_EQ(parameters.size(), 2u * 6 + 4);  // of both blocks; patches, norm, head's two
  model::VisionTransformer before = original;
  for (const auto& [name, slot] : before.parameters()) EXPECT_FALSE(slot->requires_grad()) << name;
  at::NoGradGuard guard;
  parameters.front().tensor.fill_(7);
  for (const auto& [name, slot] : before.parameters()) EXPECT_FALSE(slot->eq(7).any().item<bool>());
}

TEST(MakeTrainable, OpenedWeightsMayBeWritten) {
  model::VisionTransformer network =
      weights::open_model(vitascope::tests::golden("models/timm-vit")).network;
  const at::NoGradGuard guard;
  for (const Parameter& parameter : make_trainable(network, Tuning::full, {}, at::kFloat)) {
    parameter.tensor.add_(1);  // a mapped file would end the program here
  }
}

TEST(WithNewHead, HasTheClassesAndSharesTheRest) {
  const model::VisionTransformer network =
      model::tests::random_weights(model::tests::tiny_config());
  RandomNumbers random(1);
  model::VisionTransformer changed =
      with_new_head(network, {.classes = 3, .multi_label = true}, random);
  EXPECT_TRUE(changed.config().multi_label);
  EXPECT_EQ(changed.forward(at::randn({2, 3, 8, 12})).logits.size(1), 3);
  const at::Tensor pixels = at::randn({2, 3, 8, 12});
  EXPECT_TRUE(at::equal(changed.forward(pixels).features, network.forward(pixels).features));
}

TEST(WithWeights, RefusesANameThatIsNotThere) {
  const model::VisionTransformer network =
      model::tests::random_weights(model::tests::tiny_config());
  EXPECT_THROW(with_weights(network, {{"blocks.9.norm1.weight", at::ones({12})}}),
               std::invalid_argument);
  EXPECT_TRUE(with_weights(network, {{"norm.bias", at::ones({12})}}).parameters().size() > 0);
}

}  // namespace
}  // namespace vitascope::train
