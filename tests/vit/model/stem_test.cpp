#include <gmock/gmock.h>
#include <torch/csrc/autograd/autograd.h>

#include <map>
#include <stdexcept>

#include "tests/vit/model/golden_tensors.h"
#include "tests/vit/model/tiny_model.h"

namespace vitascope::model {
namespace {

using testing::HasSubstr;

/// Three convolutions before tokens of 4 x 4 pixels: the first keeps the size.
Config stem_config() {
  Config config = tests::tiny_config();
  config.width = 8;
  config.heads = 2;
  config.stem = {4, 6, 5};
  config.class_token = false;
  config.position_prefix = 0;
  config.pooling = Pooling::mean_patches;
  return config;
}

/// The network of the golden file; position embeddings are 0.
std::map<std::string, at::Tensor> load(VisionTransformer& network) {
  std::map<std::string, at::Tensor> learned;
  for (const auto& [name, slot] : network.parameters()) {
    if (!name.starts_with("patch_embed.")) continue;
    const std::string golden = name.substr(12);
    *slot = tests::golden_stem(golden).requires_grad_();
    learned.emplace(golden, *slot);
  }
  return learned;
}

double relative_error(const at::Tensor& got, const at::Tensor& expected) {
  return ((got - expected).abs().max() / expected.abs().max()).item<double>();
}

TEST(Stem, GivesTheTokensAndGradientsOfPyTorch) {
  VisionTransformer network = tests::random_weights(stem_config());
  const auto learned = load(network);
  ASSERT_EQ(learned.size(), 8u);
  for (const auto& [name, slot] : network.parameters()) {
    if (name == "pos_embed") slot->zero_();
  }
  const at::Tensor pixels = tests::golden_stem("pixels").requires_grad_();
  Trace trace;
  trace.want_hidden_states = true;
  network.forward(pixels, {.trace = &trace});
  const at::Tensor tokens = trace.hidden_states.at(0);
  ASSERT_EQ(tokens.sizes(), (std::vector<std::int64_t>{2, 6, 8}));
  EXPECT_LE(relative_error(tokens, tests::golden_stem("tokens")), 2e-6);
  (tokens * tests::golden_stem("coefficients")).sum().backward();
  for (const auto& [name, tensor] : learned) {
    EXPECT_LE(relative_error(tensor.grad(), tests::golden_stem("grad." + name)), 1e-5) << name;
  }
  EXPECT_LE(relative_error(pixels.grad(), tests::golden_stem("grad.pixels")), 1e-5);
}

TEST(Stem, HasItsParametersBeforeTheProjection) {
  const auto shapes = parameter_shapes(stem_config());
  ASSERT_EQ(shapes[0].name, "pos_embed");
  EXPECT_EQ(shapes[1].name, "patch_embed.stem.0.weight");
  EXPECT_EQ(shapes[1].shape, (std::vector<std::int64_t>{4, 3, 3, 3}));
  EXPECT_EQ(shapes[6].name, "patch_embed.stem.2.bias");
  EXPECT_EQ(shapes[7].name, "patch_embed.proj.weight");
  EXPECT_EQ(shapes[7].shape, (std::vector<std::int64_t>{8, 5, 1, 1}));
  VisionTransformer network(stem_config());
  const auto slots = network.parameters();
  ASSERT_EQ(slots.size(), shapes.size());
  for (std::size_t i = 0; i < slots.size(); ++i) EXPECT_EQ(slots[i].first, shapes[i].name);
}

TEST(Stem, ItsOperationsAreCounted) {
  Config without = stem_config();
  without.stem.clear();
  // On an input of 8 x 12: convolutions over 8 x 12, 4 x 6 and 2 x 3 positions; the projection
  // reads 5 numbers of each of 6 tokens instead of 48.
  const std::int64_t stem = 96 * 9 * 3 * 4 + 24 * 9 * 4 * 6 + 6 * 9 * 6 * 5;
  EXPECT_EQ(flops(stem_config(), {2, 3}) - flops(without, {2, 3}), 2 * (stem + 6 * 8 * (5 - 48)));
}

TEST(Stem, MustFitThePatch) {
  const auto complaint = [](int patch, std::vector<int> stem) -> std::string {
    Config config = stem_config();
    config.patch = patch;
    config.stem = std::move(stem);
    try {
      validate(config);
    } catch (const std::invalid_argument& error) {
      return error.what();
    }
    return "";
  };
  EXPECT_EQ(complaint(4, {4, 6}), "");
  EXPECT_EQ(complaint(1, {4}), "");
  EXPECT_THAT(complaint(4, {4}), HasSubstr("the stem has 1 convolutions: expected 2 to 16"));
  EXPECT_THAT(complaint(6, {4, 4, 4}), HasSubstr("patch size is 6: expected a power of 2"));
  EXPECT_THAT(complaint(4, {4, 0}), HasSubstr("channels in the stem is 0"));
  EXPECT_THAT(complaint(4, {4, 1 << 20}), HasSubstr("channels in the stem"));
}

}  // namespace
}  // namespace vitascope::model
