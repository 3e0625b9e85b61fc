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

TEST(VitascopeLayout, RefusesWhatItDoesNotTell) {
  const ModelFolder folder("told");
  for (const char* name : {"hf-dinov2", "hf-deit-distilled", "timm-deit3-pth"}) {
    const Model model = open_model(tests::golden(std::string("models/") + name));
    EXPECT_THROW(save_model(model, folder / "model", Layout::vitascope, false), UsageError) << name;
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
