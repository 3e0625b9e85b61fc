#include "vit/weights/key_map.h"

#include <gmock/gmock.h>

#include "tests/vit/weights/made_tensors.h"
#include "vit/weights/npz.h"
#include "vit/weights/safetensors.h"

namespace vitascope::weights {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using How = Assignment::How;

StoredTensors golden_tensors(const std::string& model) {
  return read_safetensors(tests::golden("models/" + model + "/model.safetensors"));
}

/// The configuration of hf-vit, from its config.json by hand.
model::Config vit_config() {
  model::Config config;
  config.width = 48;
  config.depth = 2;
  config.heads = 4;
  config.mlp_width = 64;
  config.patch = 8;
  config.position_grid = config.native_grid = {4, 4};
  config.classes = 5;
  return config;
}

std::map<std::string, Assignment> mapped(const StoredTensors& tensors, const model::Config& config,
                                         KeyStyle style,
                                         std::vector<std::string>* notes = nullptr) {
  std::vector<std::string> ignored;
  std::map<std::string, Assignment> all;
  for (auto& item : map_keys(tensors, config, style, "w", notes != nullptr ? *notes : ignored)) {
    all[item.parameter] = item;
  }
  return all;
}

std::string complaint(const StoredTensors& tensors, const model::Config& config = vit_config()) {
  std::vector<std::string> notes;
  return input_error(
      [&] { map_keys(tensors, config, KeyStyle::transformers4, "model.safetensors", notes); });
}

TEST(DetectKeyStyle, KnowsEveryStyle) {
  EXPECT_EQ(detect_key_style(golden_tensors("hf-vit"), "w"), KeyStyle::transformers4);
  EXPECT_EQ(detect_key_style(golden_tensors("hf-vit-v5keys"), "w"), KeyStyle::transformers5);
  EXPECT_EQ(detect_key_style(golden_tensors("hf-dinov2"), "w"), KeyStyle::transformers4);
  EXPECT_EQ(detect_key_style(golden_tensors("timm-vit"), "w"), KeyStyle::timm);
  EXPECT_EQ(detect_key_style(read_npz(tests::golden("models/augreg-npz/model.npz")), "w"),
            KeyStyle::augreg);
}

TEST(DetectKeyStyle, NamesTheFirstTensorsOfWhatItDoesNotKnow) {
  const auto tensors = made_tensors({{"conv1.weight", {64, 3, 7, 7}}, {"fc.bias", {10}}});
  EXPECT_EQ(input_error([&] { detect_key_style(tensors, "resnet.pth"); }),
            "resnet.pth: no vision transformer that is known by its tensors' names: holds 2 "
            "tensors, 'conv1.weight', 'fc.bias'; expected the names of transformers, timm or "
            "AugReg");
}

TEST(DetectKeyStyle, GradientsAndFeaturesAreNoWeights) {
  const auto stored = read_safetensors(tests::golden("models/timm-vit/expected.safetensors"));
  ASSERT_TRUE(stored.tensors.contains("grad.blocks.1.attn.qkv.weight") ||
              stored.tensors.contains("grad.blocks.0.attn.qkv.weight"));
  EXPECT_THAT(input_error([&] { detect_key_style(stored, "features.safetensors"); }),
              HasSubstr("no vision transformer"));
}

TEST(MapKeys, PutsQueryKeyAndValueBelowEachOther) {
  const auto all = mapped(golden_tensors("hf-vit"), vit_config(), KeyStyle::transformers4);
  const Assignment& qkv = all.at("blocks.1.attn.qkv.weight");
  EXPECT_EQ(qkv.how, How::concatenate);
  EXPECT_THAT(qkv.shape, ElementsAre(144, 48));
  EXPECT_THAT(qkv.sources, ElementsAre("vit.encoder.layer.1.attention.attention.query.weight",
                                       "vit.encoder.layer.1.attention.attention.key.weight",
                                       "vit.encoder.layer.1.attention.attention.value.weight"));
  EXPECT_EQ(all.at("norm.weight").how, How::as_is);
}

TEST(MapKeys, TurnsJaxsKernels) {
  const auto all = mapped(read_npz(tests::golden("models/augreg-npz/model.npz")), vit_config(),
                          KeyStyle::augreg);
  EXPECT_EQ(all.at("patch_embed.proj.weight").how, How::hwio);
  EXPECT_EQ(all.at("blocks.0.attn.qkv.weight").how, How::transpose);
  EXPECT_EQ(all.at("blocks.0.attn.qkv.weight").sources.size(), 3u);
  EXPECT_EQ(all.at("blocks.0.attn.qkv.bias").how, How::concatenate);
  EXPECT_EQ(all.at("head.weight").how, How::transpose);
  EXPECT_EQ(all.at("pos_embed").how, How::as_is);
}

TEST(MapKeys, TakesGateAndUpAsOne) {
  StoredTensors tensors = golden_tensors("hf-dinov2-reg-swiglu");
  for (const char* block : {"0", "1"}) {
    const std::string mlp = std::string("dinov2_with_registers.encoder.layer.") + block + ".mlp.";
    for (const char* leaf : {".weight", ".bias"}) {
      tensors.tensors.erase(mlp + "weights_in" + leaf);
      const Shape half = std::string(leaf) == ".bias" ? Shape{64} : Shape{64, 48};
      tensors.tensors[mlp + "gate_proj" + leaf] = made_tensor(half);
      tensors.tensors[mlp + "up_proj" + leaf] = made_tensor(half);
      auto moved = tensors.tensors.extract(mlp + "weights_out" + leaf);
      moved.key() = mlp + "down_proj" + leaf;
      tensors.tensors.insert(std::move(moved));
    }
  }
  model::Config config = vit_config();
  config.family = "dinov2_with_registers";
  config.swiglu = config.layer_scale = true;
  config.registers = 4;
  config.position_grid = config.native_grid = {6, 6};
  config.pooling = model::Pooling::class_and_mean;
  config.classes = 8;
  const auto all = mapped(tensors, config, KeyStyle::transformers5);
  EXPECT_THAT(all.at("blocks.0.mlp.fc1.weight").sources,
              ElementsAre("dinov2_with_registers.encoder.layer.0.mlp.gate_proj.weight",
                          "dinov2_with_registers.encoder.layer.0.mlp.up_proj.weight"));
  EXPECT_EQ(all.at("blocks.0.mlp.fc1.weight").how, How::concatenate);
}

TEST(MapKeys, NotesWhatIsKnownToBeUnused) {
  StoredTensors tensors = golden_tensors("hf-vit");
  tensors.tensors["vit.pooler.dense.weight"] = made_tensor({48, 48});
  tensors.tensors["vit.embeddings.mask_token"] = made_tensor({1, 1, 48});
  std::vector<std::string> notes;
  mapped(tensors, vit_config(), KeyStyle::transformers4, &notes);
  EXPECT_THAT(notes, ElementsAre("not used: vit.embeddings.mask_token, vit.pooler.dense.weight"));
}

TEST(MapKeys, NamesMissingTensorsAsTheyWouldStandInTheFile) {
  StoredTensors tensors = golden_tensors("hf-vit");
  tensors.tensors.erase("vit.layernorm.bias");
  tensors.tensors.erase("vit.encoder.layer.1.attention.attention.key.weight");
  EXPECT_EQ(complaint(tensors),
            "model.safetensors: the tensors do not fit the model's description: 2 missing: "
            "'vit.encoder.layer.1.attention.attention.key.weight' [48, 48], "
            "'vit.layernorm.bias' [48]");
}

TEST(MapKeys, NamesExtraTensors) {
  StoredTensors tensors = golden_tensors("hf-vit");
  tensors.tensors["vit.encoder.layer.2.layernorm_before.bias"] = made_tensor({48});
  tensors.tensors["some.other\nthing"] = made_tensor({2, 3});
  EXPECT_EQ(complaint(tensors),
            "model.safetensors: the tensors do not fit the model's description: 2 not known: "
            "'some.other\\nthing' [2, 3], 'vit.encoder.layer.2.layernorm_before.bias' [48]");
}

TEST(MapKeys, NamesFoundAndExpectedShapes) {
  StoredTensors tensors = golden_tensors("hf-vit");
  tensors.tensors["classifier.weight"] = made_tensor({6, 48});
  EXPECT_EQ(complaint(tensors),
            "model.safetensors: the tensors do not fit the model's description: 1 of another "
            "shape: 'classifier.weight' is [6, 48], expected [5, 48]");
}

TEST(MapKeys, ListsOnlyTheFirstFew) {
  model::Config config = vit_config();
  config.width = 96;
  const std::string text = complaint(golden_tensors("hf-vit"), config);
  EXPECT_THAT(text, HasSubstr(" more"));
  EXPECT_LT(text.size(), 500u);
}

TEST(MapKeys, RefusesIntegersForWeights) {
  StoredTensors tensors = golden_tensors("hf-vit");
  tensors.tensors["classifier.bias"].dtype = DType::i32;
  EXPECT_THAT(complaint(tensors),
              HasSubstr("'classifier.bias' is of type I32, expected F32, F16 or BF16"));
}

TEST(MapKeys, RefusesTwoTensorsForOneParameter) {
  StoredTensors tensors = golden_tensors("hf-vit");
  tensors.tensors["layernorm.weight"] = made_tensor({48});
  EXPECT_EQ(complaint(tensors),
            "model.safetensors: 'layernorm.weight' and 'vit.layernorm.weight' name the same "
            "tensor: expected one of them");
}

}  // namespace
}  // namespace vitascope::weights
