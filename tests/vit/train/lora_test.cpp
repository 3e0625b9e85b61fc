#include "vit/train/lora.h"

#include <gmock/gmock.h>
#include <unistd.h>

#include <filesystem>

#include "tests/vit/model/tiny_model.h"
#include "vit/error.h"
#include "vit/train/trainable.h"

namespace vitascope::train {
namespace {

model::VisionTransformer network_with_additions(bool learned) {
  model::VisionTransformer network = model::tests::random_weights(model::tests::tiny_config());
  RandomNumbers random(2);
  add_lora(network, {.rank = 3, .alpha = 6}, random);
  if (learned) {
    for (auto& [name, product] : network.products()) product->up = at::randn(product->up.sizes());
  }
  return network;
}

TEST(Lora, ChangesNothingAtFirst) {
  const at::Tensor pixels = at::randn({2, 3, 8, 12});
  model::VisionTransformer network = network_with_additions(false);
  const at::Tensor logits = network.forward(pixels).logits;
  // What was there before takes another library's products, which round by themselves.
  const at::Tensor before =
      model::tests::random_weights(model::tests::tiny_config()).forward(pixels).logits;
  EXPECT_TRUE(at::allclose(logits, before, 1e-5, 1e-6));
  // With the products of weights that learn it is the same bit for bit.
  for (const auto& [name, product] : network.products()) {
    if (!product->down.defined()) continue;
    product->down = product->up = at::Tensor();
    product->weight.requires_grad_();
  }
  EXPECT_TRUE(at::equal(logits, network.forward(pixels).logits));
}

TEST(Lora, MergedItComputesTheSameAndHasNoAdditions) {
  model::VisionTransformer network = network_with_additions(true);
  const at::Tensor pixels = at::randn({2, 3, 8, 12});
  const at::Tensor before = network.forward(pixels).logits;
  merge_lora(network);
  for (const auto& [name, product] : network.products()) EXPECT_FALSE(product->down.defined());
  EXPECT_TRUE(at::allclose(network.forward(pixels).logits, before, 1e-4, 1e-4));
  const at::Tensor plain =
      model::tests::random_weights(model::tests::tiny_config()).forward(pixels).logits;
  EXPECT_FALSE(at::allclose(before, plain, 1e-2, 1e-2));
}

TEST(Lora, OnlyAdditionsAndTheHeadLearn) {
  model::VisionTransformer network = network_with_additions(false);
  const auto parameters = make_trainable(network, Tuning::lora, {}, at::kFloat);
  EXPECT_EQ(parameters.size(), 2u * 4 * 2 + 2);
  network.forward(at::randn({2, 3, 8, 12})).logits.square().sum().backward();
  for (const Parameter& parameter : parameters) {
    EXPECT_TRUE(parameter.tensor.grad().defined()) << parameter.name;
  }
  for (const auto& [name, slot] : network.parameters()) {
    EXPECT_EQ(slot->requires_grad(), name.starts_with("head.")) << name;
  }
}

TEST(Lora, AnAdapterGivesTheSameNetworkAgain) {
  const std::string path = std::filesystem::temp_directory_path() /
                           ("vitascope-adapter-" + std::to_string(::getpid()) + ".safetensors");
  const model::VisionTransformer network = network_with_additions(true);
  const std::vector<std::string> labels{"a", "b", "ç d", "e", "10"};
  save_adapter({network, labels}, path, /*force=*/true);
  const auto [again, names] =
      with_adapter(model::tests::random_weights(model::tests::tiny_config()), path);
  EXPECT_EQ(names, labels);
  const at::Tensor pixels = at::randn({2, 3, 8, 12});
  EXPECT_TRUE(at::equal(again.forward(pixels).logits, network.forward(pixels).logits));
  model::Config wider = model::tests::tiny_config();
  wider.width = 24;
  EXPECT_THROW(with_adapter(model::tests::random_weights(wider), path), InputError);
  save_adapter({network, {"a"}}, path, /*force=*/true);
  EXPECT_THROW(with_adapter(model::tests::random_weights(model::tests::tiny_config()), path),
               InputError)
      << "a name for one class of five";
  std::filesystem::remove(path);
}

TEST(Lora, RefusesWhatMakesNoSense) {
  RandomNumbers random(1);
  model::VisionTransformer network = model::tests::random_weights(model::tests::tiny_config());
  EXPECT_THROW(add_lora(network, {.rank = 0}, random), UsageError);
  EXPECT_THROW(add_lora(network, {.rank = 13}, random), UsageError);
  EXPECT_THROW(add_lora(network, {.rank = 2, .alpha = 0}, random), UsageError);
  EXPECT_THROW(add_lora(network, {.rank = 2, .where = {"attn.q"}}, random), UsageError);
}

}  // namespace
}  // namespace vitascope::train
