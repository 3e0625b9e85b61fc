#include <gmock/gmock.h>

#include "tests/vit/weights/made_tensors.h"
#include "vit/weights/config_reader.h"
#include "vit/weights/safetensors.h"

namespace vitascope::weights {
namespace {

using model::Activation;
using model::Config;
using model::Grid;
using model::Pooling;
using model::PositionInterpolation;
using testing::HasSubstr;

StoredTensors golden_tensors(const std::string& model) {
  return read_safetensors(tests::golden("models/" + model + "/model.safetensors"));
}

Config described(const std::string& model) {
  return describe_transformers(golden_config(model), "config.json", golden_tensors(model)).config;
}

/// hf-vit with its config.json changed by a JSON merge patch (null removes a key).
Description changed(const Json& patch, const std::string& model = "hf-vit") {
  Json config = golden_config(model);
  config.merge_patch(patch);
  return describe_transformers(config, "config.json", golden_tensors(model));
}

std::string complaint(const Json& patch, const std::string& model = "hf-vit") {
  return input_error([&] { changed(patch, model); });
}

TEST(DescribeTransformers, ReadsViT) {
  Config expected;
  expected.family = "vit";
  expected.width = 48;
  expected.depth = 2;
  expected.heads = 4;
  expected.mlp_width = 64;
  expected.patch = 8;
  expected.position_grid = expected.native_grid = {4, 4};
  expected.norm_epsilon = 1e-12;
  expected.classes = 5;
  EXPECT_EQ(described("hf-vit"), expected);
  EXPECT_EQ(described("hf-vit-v4keys"), expected);
  EXPECT_EQ(described("hf-vit-v5keys"), expected);
}

TEST(DescribeTransformers, ReadsDistilledDeiT) {
  const Config config = described("hf-deit-distilled");
  EXPECT_TRUE(config.distillation_token);
  EXPECT_EQ(config.position_prefix, 2);
  EXPECT_EQ(config.pooling, Pooling::first_two);
  EXPECT_EQ(config.norm_epsilon, 1e-3);
  EXPECT_EQ(config.classes, 6);
}

TEST(DescribeTransformers, ADeiTWithOneHeadReadsTheClassToken) {
  StoredTensors tensors = golden_tensors("hf-deit-distilled");
  for (const char* leaf : {"weight", "bias"}) {
    auto head = tensors.tensors.extract(std::string("cls_classifier.") + leaf);
    head.key() = std::string("classifier.") + leaf;
    tensors.tensors.insert(std::move(head));
    tensors.tensors.erase(std::string("distillation_classifier.") + leaf);
  }
  const Config config =
      describe_transformers(golden_config("hf-deit-distilled"), "config.json", tensors).config;
  EXPECT_EQ(config.pooling, Pooling::class_token);
  EXPECT_TRUE(config.distillation_token);
  EXPECT_EQ(config.classes, 6);
}

TEST(DescribeTransformers, ReadsDinov2) {
  const Config config = described("hf-dinov2");
  EXPECT_EQ(config.family, "dinov2");
  EXPECT_TRUE(config.layer_scale);
  EXPECT_EQ(config.mlp_width, 96);
  EXPECT_EQ(config.patch, 14);
  EXPECT_EQ(config.position_grid, (Grid{5, 5}));
  EXPECT_EQ(config.pooling, Pooling::class_and_mean);
  EXPECT_EQ(config.interpolation, PositionInterpolation::bicubic);
}

TEST(DescribeTransformers, ReadsDinov2WithRegistersAndSwiglu) {
  const Config config = described("hf-dinov2-reg-swiglu");
  EXPECT_EQ(config.registers, 4);
  EXPECT_EQ(config.position_prefix, 1);
  EXPECT_TRUE(config.swiglu);
  EXPECT_EQ(config.mlp_width, 64);  // int(96 * 2 / 3) = 64, a multiple of 8 already
  EXPECT_EQ(config.activation, Activation::silu);
  EXPECT_EQ(config.interpolation, PositionInterpolation::bicubic_antialias);
}

TEST(DescribeTransformers, SwigluRoundsItsWidthUpToAMultipleOfEight) {
  // transformers: (int(int(width * ratio) * 2 / 3) + 7) // 8 * 8, which gives (96 + 7) // 8 * 8,
  // ViT-g's 4096 of DINOv2, and (34 + 7) // 8 * 8.
  EXPECT_EQ(changed({{"mlp_ratio", 3}}, "hf-dinov2-reg-swiglu").config.mlp_width, 96);
  EXPECT_EQ(changed({{"hidden_size", 1536}, {"mlp_ratio", 4}, {"num_attention_heads", 24}},
                    "hf-dinov2-reg-swiglu")
                .config.mlp_width,
            4096);
  EXPECT_EQ(
      changed({{"hidden_size", 52}, {"mlp_ratio", 1}}, "hf-dinov2-reg-swiglu").config.mlp_width,
      40);
}

TEST(DescribeTransformers, ABackboneHasNoHead) {
  StoredTensors tensors = golden_tensors("hf-vit");
  tensors.tensors.erase("classifier.weight");
  tensors.tensors.erase("classifier.bias");
  Json config = golden_config("hf-vit");
  config["architectures"] = {"ViTModel"};
  const Description description = describe_transformers(config, "config.json", tensors);
  EXPECT_EQ(description.config.classes, 0);
  EXPECT_TRUE(description.labels.empty());
  config["architectures"] = {"ViTForImageClassification"};
  EXPECT_EQ(input_error([&] { describe_transformers(config, "config.json", tensors); }),
            "config.json: 'architectures' says a classifier, but the weights hold no "
            "'classifier.weight': the file is incomplete");
}

TEST(DescribeTransformers, TakesTheEncoderOfMaskedAutoencoders) {
  const Config config = changed({{"model_type", "vit_mae"}}).config;
  EXPECT_EQ(config.family, "vit_mae");
  EXPECT_EQ(config.interpolation, PositionInterpolation::bicubic);
}

TEST(DescribeTransformers, EpsilonDependsOnTheFamilyWhereItIsNotSaid) {
  EXPECT_EQ(changed({{"layer_norm_eps", nullptr}}).config.norm_epsilon, 1e-12);
  EXPECT_EQ(changed({{"layer_norm_eps", nullptr}}, "hf-dinov2").config.norm_epsilon, 1e-6);
}

TEST(DescribeTransformers, ImageSizesMayBeOblong) {
  EXPECT_EQ(changed({{"image_size", {48, 32}}}).config.position_grid, (Grid{6, 4}));
}

TEST(DescribeTransformers, KnowsTheNamesOfActivations) {
  const auto activation = [](const char* name) {
    return changed({{"hidden_act", name}}).config.activation;
  };
  EXPECT_EQ(activation("gelu"), Activation::gelu);
  EXPECT_EQ(activation("gelu_new"), Activation::gelu_tanh);
  EXPECT_EQ(activation("gelu_pytorch_tanh"), Activation::gelu_tanh);
  EXPECT_EQ(activation("quick_gelu"), Activation::quick_gelu);
  EXPECT_EQ(activation("relu"), Activation::relu);
  EXPECT_EQ(activation("swish"), Activation::silu);
  EXPECT_THAT(complaint({{"hidden_act", "mish"}}), HasSubstr("'hidden_act' is \"mish\""));
}

TEST(DescribeTransformers, MultiLabelComesFromProblemType) {
  EXPECT_FALSE(changed(Json::object()).config.multi_label);
  EXPECT_TRUE(changed({{"problem_type", "multi_label_classification"}}).config.multi_label);
  EXPECT_THAT(complaint({{"problem_type", "regression"}}), HasSubstr("'problem_type' is"));
}

TEST(DescribeTransformers, LabelsAreThoseOfTheHead) {
  const Description description = changed(Json::object());
  ASSERT_EQ(description.labels.size(), 5u);
  EXPECT_EQ(description.labels[2], "fire truck");
  EXPECT_EQ(description.label_source, "id2label of config.json");
  EXPECT_EQ(complaint({{"id2label", {{"4", nullptr}}}}),
            "config.json: 'id2label' names 4 classes, but the head has 5: expected one label a "
            "class");
}

TEST(DescribeTransformers, NamesMissingAndImpossibleKeys) {
  EXPECT_EQ(complaint({{"hidden_size", nullptr}}),
            "config.json: 'hidden_size' is missing: expected a whole number, 1 to 1048576");
  EXPECT_EQ(complaint({{"model_type", "swin"}}),
            "config.json: 'model_type' is \"swin\": expected one of vit, deit, vit_mae, dinov2, "
            "dinov2_with_registers");
  for (const char* key : {"num_hidden_layers", "num_attention_heads", "intermediate_size",
                          "patch_size", "image_size"}) {
    EXPECT_THAT(complaint({{key, nullptr}}),
                HasSubstr("config.json: '" + std::string(key) + "' is missing"));
    EXPECT_THAT(complaint({{key, "many"}}),
                HasSubstr("config.json: '" + std::string(key) + "' is \"many\""));
    EXPECT_THAT(complaint({{key, 0}}), HasSubstr("'" + std::string(key) + "' is 0"));
    EXPECT_THAT(complaint({{key, 1e18}}), HasSubstr("'" + std::string(key) + "' is 1e+18"));
  }
  EXPECT_THAT(complaint({{"mlp_ratio", -1}}, "hf-dinov2"), HasSubstr("'mlp_ratio' is -1"));
  EXPECT_THAT(complaint({{"mlp_ratio", 1e9}}, "hf-dinov2"), HasSubstr("'mlp_ratio'"));
  EXPECT_THAT(complaint({{"patch_size", {8, 16}}}), HasSubstr("expected a square"));
  EXPECT_THAT(complaint({{"patch_size", 64}}), HasSubstr("at least the patch size, 64"));
  EXPECT_THAT(complaint({{"num_channels", 1}}), HasSubstr("number of channels is 1"));
  EXPECT_THAT(complaint({{"num_attention_heads", 7}}), HasSubstr("number of heads is 7"));
  EXPECT_THAT(complaint({{"layer_norm_eps", "small"}}), HasSubstr("'layer_norm_eps'"));
  EXPECT_THAT(complaint({{"num_hidden_layers", 100000}}), HasSubstr("depth is 100000"));
}

TEST(DescribeTransformers, ReadsImageNetOffTheNameItWasMadeFrom) {
  EXPECT_FALSE(changed(Json::object()).imagenet);
  EXPECT_TRUE(changed({{"_name_or_path", "me/vit-base-ImageNet-1k"}}).imagenet);
}

TEST(DescribeTransformers, AHeadOfAnImpossibleShapeIsRefused) {
  StoredTensors tensors = golden_tensors("hf-vit");
  tensors.tensors["classifier.weight"] = made_tensor({5});
  EXPECT_THAT(
      input_error([&] { describe_transformers(golden_config("hf-vit"), "config.json", tensors); }),
      HasSubstr("'classifier.weight' is [5]: expected [classes, features]"));
}

}  // namespace
}  // namespace vitascope::weights
