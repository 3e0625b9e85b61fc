#include <gmock/gmock.h>

#include "tests/vit/weights/made_tensors.h"
#include "vit/model/architectures.h"
#include "vit/weights/config_reader.h"
#include "vit/weights/safetensors.h"
#include "vit/weights/torch_archive.h"

namespace vitascope::weights {
namespace {

using model::Activation;
using model::Config;
using model::Grid;
using model::Pooling;
using testing::ElementsAre;
using testing::HasSubstr;

StoredTensors golden_tensors(const std::string& model) {
  if (model == "timm-deit3-pth") {
    return read_torch_archive(tests::golden("models/" + model + "/model.pth"));
  }
  return read_safetensors(tests::golden("models/" + model + "/model.safetensors"));
}

Description changed(const Json& patch, const std::string& model = "timm-vit") {
  Json config = golden_config(model);
  config.merge_patch(patch);
  return describe_timm(config, "config.json", golden_tensors(model));
}

std::string complaint(const Json& patch, const std::string& model = "timm-vit") {
  return input_error([&] { changed(patch, model); });
}

Json arguments(const Json& patch) { return {{"model_args", patch}}; }

/// Tensors of an architecture, and what is changed of them.
StoredTensors tensors_of(const std::string& architecture) {
  StoredTensors tensors;
  for (const auto& [name, shape] : model::parameter_shapes(*model::architecture(architecture))) {
    tensors.tensors[name].shape = shape;
  }
  return tensors;
}

TEST(DescribeTimm, ReadsWhatWasOverridden) {
  Config expected;
  expected.family = "vit_tiny_patch16_224";
  expected.width = 48;
  expected.depth = 2;
  expected.heads = 3;
  expected.mlp_width = 72;
  expected.patch = 8;
  expected.position_grid = expected.native_grid = {4, 4};
  expected.interpolation = model::PositionInterpolation::bicubic_antialias;
  expected.classes = 6;
  EXPECT_EQ(changed(Json::object()).config, expected);
}

TEST(DescribeTimm, ReadsWhatTheArchitectureSets) {
  const Config deit3 = changed(Json::object(), "timm-deit3-pth").config;
  EXPECT_TRUE(deit3.layer_scale);
  EXPECT_EQ(deit3.position_prefix, 0);
  const Config gap = changed(Json::object(), "timm-vit-gap").config;
  EXPECT_FALSE(gap.class_token);
  EXPECT_FALSE(gap.qkv_bias);
  EXPECT_TRUE(gap.qk_norm && gap.layer_scale && gap.fc_norm && !gap.final_norm);
  EXPECT_EQ(gap.pooling, Pooling::mean_patches);
  const Config registers = changed(Json::object(), "timm-vit-gap-cls").config;
  EXPECT_EQ(registers.registers, 2);
  EXPECT_EQ(registers.position_prefix, 3);
  EXPECT_EQ(registers.pooling, Pooling::mean_patches);
}

TEST(DescribeTimm, NamesTheNearestArchitecture) {
  EXPECT_EQ(complaint({{"architecture", "vit_tiny_patch16_225"}}),
            "config.json: the architecture 'vit_tiny_patch16_225' is not known: expected a plain "
            "vision transformer of timm; the nearest is 'vit_tiny_patch16_224'");
  EXPECT_THAT(complaint({{"architecture", "resnet50"}}),
              HasSubstr("'resnet50' is not known: expected a plain vision transformer of timm, "
                        "such as vit_base_patch16_224"));
  EXPECT_THAT(complaint({{"architecture", nullptr}}), HasSubstr("'architecture' is missing"));
}

TEST(DescribeTimm, RefusesArgumentsThatItCanNotHonour) {
  EXPECT_THAT(complaint(arguments({{"global_pool", "map"}})),
              HasSubstr("'model_args.global_pool' is \"map\": expected token or avg"));
  EXPECT_THAT(complaint(arguments({{"embed_layer", "hybrid"}})),
              HasSubstr("'model_args.embed_layer' is \"hybrid\": expected no such key"));
  EXPECT_THAT(complaint(arguments({{"scale_mlp_norm", true}})),
              HasSubstr("'model_args.scale_mlp_norm' is true: expected false"));
  EXPECT_THAT(complaint(arguments({{"norm_layer", "rmsnorm"}})), HasSubstr("norm_layer"));
  EXPECT_THAT(complaint(arguments({{"act_layer", "mish"}})), HasSubstr("act_layer"));
  EXPECT_THAT(complaint(arguments({{"pos_embed", "none"}})), HasSubstr("pos_embed"));
}

TEST(DescribeTimm, NamesImpossibleArguments) {
  for (const char* key : {"embed_dim", "depth", "num_heads", "patch_size", "img_size"}) {
    const std::string name = std::string("'model_args.") + key + "'";
    EXPECT_THAT(complaint(arguments({{key, "many"}})), HasSubstr(name + " is \"many\""));
    EXPECT_THAT(complaint(arguments({{key, 0}})), HasSubstr(name + " is 0"));
    EXPECT_THAT(complaint(arguments({{key, 1e12}})), HasSubstr(name));
  }
  EXPECT_THAT(complaint(arguments({{"mlp_ratio", 0}})), HasSubstr("'model_args.mlp_ratio' is 0"));
  EXPECT_THAT(complaint(arguments({{"num_heads", 5}})), HasSubstr("number of heads is 5"));
  EXPECT_THAT(complaint(arguments({{"patch_size", {8, 4}}})), HasSubstr("expected a square"));
}

TEST(DescribeTimm, RefusesMorePatchesThanAnIntCanCount) {
  EXPECT_THAT(complaint(arguments({{"img_size", 1048576}, {"patch_size", 1}})),
              HasSubstr("'model_args.img_size' is 1048576: expected at most 4096 patches a side"));
}

TEST(DescribeTimm, ArgumentsWithoutEffectOnTheResultAreTaken) {
  EXPECT_EQ(changed(arguments({{"drop_rate", 0.1}, {"dynamic_img_size", true}})).config,
            changed(Json::object()).config);
}

TEST(DescribeTimm, ArgumentsChangeWhatNoTensorShows) {
  EXPECT_EQ(changed(arguments({{"act_layer", "quick_gelu"}})).config.activation,
            Activation::quick_gelu);
  EXPECT_EQ(changed(arguments({{"num_heads", 6}})).config.heads, 6);
  EXPECT_EQ(changed(arguments({{"img_size", 64}})).config.native_grid, (Grid{8, 8}));
}

TEST(DescribeTimm, PositionsOfAnotherSizeAreKeptWithTheirGrid) {
  const Description description = changed(arguments({{"img_size", {64, 48}}}));
  EXPECT_EQ(description.config.native_grid, (Grid{8, 6}));
  EXPECT_EQ(description.config.position_grid, (Grid{4, 4}));
  EXPECT_THAT(description.notes,
              ElementsAre("position embeddings of a 4 x 4 grid, for a model of 8 x 6"));
}

TEST(DescribeTimm, TheMlpFollowsFromItsTensorsWhereNoRatioIsGiven) {
  EXPECT_EQ(changed(arguments({{"mlp_ratio", nullptr}})).config.mlp_width, 72);
}

TEST(DescribeTimm, TheHeadMustBeWhatTheFilesState) {
  EXPECT_EQ(complaint(arguments({{"num_classes", 7}})),
            "config.json: 'num_classes' is 7, but the weights have a head of 6 classes: expected "
            "the same");
  StoredTensors tensors = golden_tensors("timm-vit");
  tensors.tensors.erase("head.weight");
  tensors.tensors.erase("head.bias");
  Json config = golden_config("timm-vit");
  EXPECT_THAT(input_error([&] { describe_timm(config, "config.json", tensors); }),
              HasSubstr("'num_classes' is 6, but the weights have no head.weight"));
  config.merge_patch(Json{{"model_args", {{"num_classes", 0}}}});
  EXPECT_EQ(describe_timm(config, "config.json", tensors).config.classes, 0);
}

TEST(DescribeTimm, LabelsMayStandAtTheRootOrInThePretrainedConfiguration) {
  EXPECT_EQ(changed(Json::object()).label_source, "label_names of config.json");
  EXPECT_EQ(changed(Json::object()).labels.front(), "lighthouse");
  const Description inside = changed(Json::object(), "timm-vit-gap");
  EXPECT_EQ(inside.label_source, "label_names of pretrained_cfg in config.json");
  EXPECT_EQ(inside.labels.front(), "fire truck");
  EXPECT_EQ(complaint({{"label_names", {"a", "b"}}}),
            "config.json: 'label_names' has 2 labels, but the head has 6 classes: expected one "
            "label a class");
}

TEST(DescribeTimm, ReadsTheFlatConfigurationOfOlderVersions) {
  const StoredTensors tensors = tensors_of("vit_tiny_patch16_224");
  const Json flat = {{"architecture", "vit_tiny_patch16_224"},
                     {"num_classes", 1000},
                     {"input_size", {3, 224, 224}},
                     {"crop_pct", 0.9},
                     {"mean", {0.5, 0.5, 0.5}}};
  Config expected = *model::architecture("vit_tiny_patch16_224");
  EXPECT_EQ(describe_timm(flat, "config.json", tensors).config, expected);
}

TEST(DescribeTimm, ATagTellsOfImageNet) {
  EXPECT_TRUE(changed(Json::object()).imagenet);  // augreg_in21k_ft_in1k
  EXPECT_FALSE(changed({{"pretrained_cfg", {{"tag", "mine"}}}}).imagenet);
  EXPECT_TRUE(changed({{"architecture", "vit_tiny_patch16_224.augreg_in21k"}}).imagenet);
}

TEST(DescribeTimm, ADistilledBackboneShowsItsClassToken) {
  StoredTensors tensors = tensors_of("deit_tiny_distilled_patch16_224");
  const Json config = {{"architecture", "deit_tiny_distilled_patch16_224"}};
  EXPECT_EQ(describe_timm(config, "c", tensors).config.pooling, Pooling::first_two);
  for (const char* name : {"head.weight", "head.bias", "head_dist.weight", "head_dist.bias"}) {
    tensors.tensors.erase(name);
  }
  EXPECT_EQ(describe_timm(config, "c", tensors).config.pooling, Pooling::class_token);
}

TEST(DescribeArchitecture, TakesTheHeadThatIsThere) {
  StoredTensors tensors = tensors_of("vit_small_patch16_224");
  EXPECT_EQ(describe_architecture("vit_small_patch16_224", tensors, "w.pth").config.classes, 1000);
  tensors.tensors["head.weight"].shape = {16, 384};
  tensors.tensors["head.bias"].shape = {16};
  EXPECT_EQ(describe_architecture("vit_small_patch16_224", tensors, "w.pth").config.classes, 16);
  tensors.tensors.erase("head.weight");
  tensors.tensors.erase("head.bias");
  EXPECT_EQ(describe_architecture("vit_small_patch16_224", tensors, "w.pth").config.classes, 0);
}

TEST(DescribeArchitecture, FacebooksRegistersLeaveThePositionToTheClassToken) {
  StoredTensors tensors = tensors_of("vit_small_patch14_reg4_dinov2");
  auto registers = tensors.tensors.extract("reg_token");
  registers.key() = "register_tokens";
  tensors.tensors.insert(std::move(registers));
  tensors.tensors["pos_embed"].shape = {1, 37 * 37 + 1, 384};
  const Config config =
      describe_architecture("vit_small_patch14_reg4_dinov2", tensors, "w.pth").config;
  EXPECT_EQ(config.registers, 4);
  EXPECT_EQ(config.position_prefix, 1);
}

TEST(DescribeArchitecture, WantsTimmsNames) {
  const auto tensors = read_safetensors(tests::golden("models/hf-vit/model.safetensors"));
  EXPECT_THAT(input_error([&] {
                describe_architecture("vit_base_patch16_224", tensors, "model.safetensors");
              }),
              HasSubstr("named as transformers 4 names them"));
}

TEST(DescribeArchitecture, ImpossibleShapesAreRefused) {
  StoredTensors tensors = tensors_of("vit_small_patch16_224");
  tensors.tensors["pos_embed"].shape = {1, 0, 384};
  EXPECT_THAT(
      input_error([&] { describe_architecture("vit_small_patch16_224", tensors, "w.pth"); }),
      HasSubstr("'pos_embed' is [1, 0, 384]"));
}

}  // namespace
}  // namespace vitascope::weights
