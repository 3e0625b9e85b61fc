#include <ATen/ATen.h>
#include <gmock/gmock.h>

#include "tests/vit/model/tiny_model.h"
#include "tests/vit/weights/made_tensors.h"
#include "tests/vit/weights/model_folder.h"
#include "vit/file.h"
#include "vit/weights/model_directory.h"
#include "vit/weights/safetensors.h"

namespace vitascope::weights {
namespace {

using testing::HasSubstr;

/// A network that only our own layout holds.
Model compact_model() {
  model::Config config = model::tests::tiny_config();
  config.family = "vitascope";
  config.stem = {4, 6, 5};
  config.learned_positions = false;
  config.class_token = false;
  config.position_prefix = 0;
  config.pooling = model::Pooling::mean_patches;
  config.interpolation = model::PositionInterpolation::bicubic_antialias;
  Model model;
  model.network = model::tests::random_weights(config);
  model.labels = {"ankle boot", "bag", "coat", "dress", "shirt"};
  model.specification.emplace();
  model.specification->size = {12, 8};
  model.specification->mean = {0.25f, 0.5f, 0.75f};
  return model;
}

TEST(VitascopeLayout, OpensAgainToTheSameModel) {
  const ModelFolder folder("compact");
  const Model model = compact_model();
  save_model(model, folder / "model", Layout::vitascope, /*force=*/false);
  const Model again = open_model(folder / "model");
  EXPECT_EQ(again.network.config(), model.network.config());
  EXPECT_EQ(again.labels, model.labels);
  EXPECT_EQ(again.key_style, "vitascope");
  ASSERT_TRUE(again.specification);
  EXPECT_EQ(again.specification->size, model.specification->size);
  EXPECT_EQ(again.specification->mean, model.specification->mean);
  const at::Tensor pixels = at::randn({2, 3, 8, 12});
  EXPECT_TRUE(
      at::equal(again.network.forward(pixels).logits, model.network.forward(pixels).logits));
}

TEST(VitascopeLayout, IsNeededForAStem) {
  const ModelFolder folder("stem");
  for (const Layout layout : {Layout::transformers, Layout::timm}) {
    try {
      save_model(compact_model(), folder / "model", layout, /*force=*/false);
      ADD_FAILURE() << "saved";
    } catch (const UsageError& error) {
      EXPECT_THAT(error.what(), HasSubstr("can't express a stem of convolutions"));
    }
  }
}

TEST(VitascopeLayout, HoldsEveryFamily) {
  const ModelFolder folder("families");
  for (const std::string name : {"hf-vit", "hf-deit-distilled", "hf-dinov2", "hf-dinov2-reg-swiglu",
                                 "timm-deit3-pth", "timm-vit-gap", "timm-vit-gap-cls"}) {
    const Model model = open_model(tests::golden("models/" + name));
    save_model(model, folder / name, Layout::vitascope, /*force=*/false);
    const Model again = open_model(folder / name);
    const model::Config& config = model.network.config();
    const at::Tensor pixels = at::randn(
        {2, 3, config.native_grid.rows * config.patch, config.native_grid.columns * config.patch});
    const model::Output expected = model.network.forward(pixels);
    const model::Output output = again.network.forward(pixels);
    EXPECT_TRUE(at::equal(output.features, expected.features)) << name;
    EXPECT_EQ(output.logits.defined(), expected.logits.defined()) << name;
    if (expected.logits.defined()) {
      EXPECT_TRUE(at::equal(output.logits, expected.logits)) << name;
    }
  }
}

/// A network with photos in place of a matrix.
Model neighbours_model() {
  Model model = compact_model();
  model::Config config = model.network.config();
  config.neighbours =
      model::NeighbourVote{.count = 3, .temperature = 0.1, .photos = {2, 0, 1, 4, 2}};
  model.network = model::tests::random_weights(config);
  return model;
}

TEST(VitascopeLayout, HoldsAHeadOfNeighbours) {
  const ModelFolder folder("neighbours");
  const Model model = neighbours_model();
  save_model(model, folder / "model", Layout::vitascope, /*force=*/false);
  const Model again = open_model(folder / "model");
  EXPECT_EQ(again.network.config(), model.network.config());
  EXPECT_EQ(again.labels, model.labels);
  const at::Tensor pixels = at::randn({2, 3, 8, 12});
  EXPECT_TRUE(
      at::equal(again.network.forward(pixels).logits, model.network.forward(pixels).logits));

  OpenOptions half;
  half.precision = at::kBFloat16;
  Model rounded = open_model(folder / "model", half);
  for (const auto& [name, slot] : rounded.network.parameters()) {
    EXPECT_EQ(slot->scalar_type() == at::kFloat, name == "head.features") << name;
  }
  EXPECT_EQ(rounded.network.forward(pixels).logits.scalar_type(), at::kFloat);

  const Json config = read_json(folder / "model/config.json");
  Json changed = config;
  changed["neighbours"]["photos"] = {2, 0, 1, 4, 3};
  write_file(folder / "model/config.json", /*force=*/true, changed.dump());
  EXPECT_THAT(input_error([&] { open_model(folder / "model"); }),
              HasSubstr("'head.features' is [9, 12], expected [10, 12]"));
}

TEST(VitascopeLayout, IsNeededForNeighbours) {
  const ModelFolder folder("neighbours-elsewhere");
  Model model = open_model(tests::golden("models/hf-vit"));
  model::Config config = model.network.config();
  config.neighbours = model::NeighbourVote{
      .count = 1, .photos = std::vector<int>(static_cast<std::size_t>(config.classes), 1)};
  model.network = model::tests::random_weights(config);
  for (const Layout layout : {Layout::transformers, Layout::timm}) {
    try {
      save_model(model, folder / "model", layout, /*force=*/false);
      ADD_FAILURE() << "saved";
    } catch (const UsageError& error) {
      EXPECT_THAT(error.what(), HasSubstr("can't express a head of neighbours"));
    }
  }
}

TEST(VitascopeLayout, TensorsMustFitTheDescription) {
  const ModelFolder folder("damaged");
  save_model(compact_model(), folder / "model", Layout::vitascope, /*force=*/false);
  const std::string path = folder / "model/config.json";
  const Json config = read_json(path);
  const auto complaint = [&](const Json& patch) {
    Json changed = config;
    changed.merge_patch(patch);
    write_file(path, /*force=*/true, changed.dump());
    return input_error([&] { open_model(folder / "model"); });
  };
  EXPECT_THAT(complaint({{"stem_channels", {4, 6, 7}}}),
              HasSubstr("'patch_embed.stem.2.weight' is [5, 6, 3, 3], expected [7, 6, 3, 3]"));
  EXPECT_THAT(complaint({{"stem_channels", Json::array()}}), HasSubstr("not known"));
  EXPECT_THAT(complaint({{"num_hidden_layers", 3}}), HasSubstr("missing: 'blocks.2."));
  EXPECT_THAT(complaint({{"model_type", "vit"}}), HasSubstr("expected both of one library"));
}

}  // namespace
}  // namespace vitascope::weights
