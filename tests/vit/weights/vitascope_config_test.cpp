#include <gmock/gmock.h>

#include "tests/vit/weights/made_tensors.h"
#include "vit/weights/config_reader.h"

namespace vitascope::weights {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

Json valid() {
  return {{"model_type", "vitascope"}, {"hidden_size", 32},
          {"num_hidden_layers", 2},    {"num_attention_heads", 4},
          {"intermediate_size", 48},   {"patch_size", 4},
          {"image_size", {8, 12}},     {"stem_channels", {6, 8}},
          {"train_positions", false},  {"class_token", false},
          {"pooling", "mean_patches"}, {"layer_norm_eps", 1e-6},
          {"num_labels", 2},           {"id2label", {{"0", "cat"}, {"1", "dog"}}}};
}

std::string complaint(const Json& patch) {
  Json config = valid();
  config.merge_patch(patch);
  return input_error([&] { describe_vitascope(config, "config.json"); });
}

TEST(DescribeVitascope, ReadsEveryKey) {
  const Description description = describe_vitascope(valid(), "config.json");
  model::Config expected;
  expected.family = "vitascope";
  expected.width = 32;
  expected.depth = 2;
  expected.heads = 4;
  expected.mlp_width = 48;
  expected.patch = 4;
  expected.stem = {6, 8};
  expected.position_grid = expected.native_grid = {2, 3};
  expected.interpolation = model::PositionInterpolation::bicubic_antialias;
  expected.learned_positions = false;
  expected.class_token = false;
  expected.position_prefix = 0;
  expected.pooling = model::Pooling::mean_patches;
  expected.classes = 2;
  EXPECT_EQ(description.config, expected);
  EXPECT_THAT(description.labels, ElementsAre("cat", "dog"));
}

/// What a network without the key has, it says with the key too.
TEST(DescribeVitascope, ReadsThePartsOfOtherFamilies) {
  Json config = valid();
  config.merge_patch({{"class_token", true},
                      {"distillation_token", true},
                      {"registers", 3},
                      {"position_prefix", 2},
                      {"position_interpolation", "bicubic"},
                      {"hidden_act", "quick_gelu"},
                      {"pooling", "first_two"}});
  for (const char* off : {"patch_bias", "qkv_bias", "projection_bias", "final_norm", "head_bias"}) {
    config[off] = false;
  }
  for (const char* on : {"qk_norm", "layer_scale", "swiglu", "pre_norm", "fc_norm"}) {
    config[on] = true;
  }
  model::Config expected = describe_vitascope(valid(), "config.json").config;
  expected.class_token = expected.distillation_token = true;
  expected.registers = 3;
  expected.position_prefix = 2;
  expected.interpolation = model::PositionInterpolation::bicubic;
  expected.activation = model::Activation::quick_gelu;
  expected.pooling = model::Pooling::first_two;
  expected.patch_bias = expected.qkv_bias = expected.projection_bias = false;
  expected.final_norm = expected.head_bias = false;
  expected.qk_norm = expected.layer_scale = expected.swiglu = true;
  expected.pre_norm = expected.fc_norm = true;
  EXPECT_EQ(describe_vitascope(config, "config.json").config, expected);
}

TEST(DescribeVitascope, ReadsAHeadOfNeighbours) {
  Json config = valid();
  config["neighbours"] = {{"count", 4}, {"temperature", 0.25}, {"photos", {5, 0}}};
  const model::NeighbourVote expected{.count = 4, .temperature = 0.25, .photos = {5, 0}};
  EXPECT_EQ(describe_vitascope(config, "config.json").config.neighbours, expected);
  const auto wrong = [&](const Json& patch) { return complaint({{"neighbours", patch}}); };
  EXPECT_THAT(wrong(3), HasSubstr("neighbours"));
  EXPECT_THAT(wrong({{"count", 4}}), HasSubstr("'neighbours.temperature' is missing"));
  const auto vote = [](const Json& count, const Json& temperature, const Json& photos) {
    return Json{{"count", count}, {"temperature", temperature}, {"photos", photos}};
  };
  EXPECT_THAT(wrong(vote(0, 0.25, {5, 1})), HasSubstr("'neighbours.count' is 0"));
  EXPECT_THAT(wrong(vote(7, 0.25, {5, 1})), HasSubstr("neighbours is 7: expected 1 to 6"));
  EXPECT_THAT(wrong(vote(4, -1, {5, 1})), HasSubstr("temperature of the neighbours is -1"));
  EXPECT_THAT(wrong(vote(4, 0.25, {5, -1})), HasSubstr("'neighbours.photos'"));
  EXPECT_THAT(wrong(vote(4, 0.25, {5, 1, 2})), HasSubstr("3 classes: expected 2"));
  Json more = vote(4, 0.25, {5, 1});
  more["metric"] = "euclid";
  EXPECT_THAT(wrong(more), HasSubstr("'neighbours.metric'"));
}

TEST(DescribeVitascope, RefusesWhatItCanNotBuild) {
  EXPECT_THAT(complaint({{"talking_heads", true}}), HasSubstr("'talking_heads'"));
  EXPECT_THAT(complaint({{"layer_scale", "some"}}), HasSubstr("'layer_scale'"));
  EXPECT_THAT(complaint({{"registers", -1}}), HasSubstr("'registers'"));
  EXPECT_THAT(complaint({{"hidden_act", "tanh"}}),
              HasSubstr("one of gelu, gelu_pytorch_tanh, quick_gelu, relu, silu"));
  EXPECT_THAT(complaint({{"hidden_size", 0}}), HasSubstr("'hidden_size' is 0"));
  EXPECT_THAT(complaint({{"hidden_size", nullptr}}), HasSubstr("'hidden_size' is missing"));
  EXPECT_THAT(complaint({{"hidden_size", 1000000}}), HasSubstr("width is 1000000"));
  EXPECT_THAT(complaint({{"num_attention_heads", 5}}), HasSubstr("a divisor of the width"));
  EXPECT_THAT(complaint({{"stem_channels", nullptr}}), HasSubstr("'stem_channels'"));
  EXPECT_THAT(complaint({{"stem_channels", "many"}}), HasSubstr("'stem_channels'"));
  EXPECT_THAT(complaint({{"stem_channels", {8, -1}}}), HasSubstr("'stem_channels'"));
  EXPECT_THAT(complaint({{"stem_channels", {8, 1.5}}}), HasSubstr("'stem_channels'"));
  EXPECT_THAT(complaint({{"stem_channels", {8}}}), HasSubstr("the stem has 1 convolutions"));
  EXPECT_THAT(complaint({{"stem_channels", std::vector<int>(100, 8)}}), HasSubstr("stem_channels"));
  EXPECT_THAT(complaint({{"image_size", {2, 12}}}), HasSubstr("'image_size'"));
  EXPECT_THAT(complaint({{"pooling", "max"}}), HasSubstr("'pooling' is \"max\""));
  EXPECT_THAT(complaint({{"pooling", "class_token"}}), HasSubstr("pooling reads the class token"));
  EXPECT_THAT(complaint({{"problem_type", "regression"}}), HasSubstr("'problem_type'"));
  EXPECT_THAT(complaint({{"num_labels", 3}}), HasSubstr("'id2label' names 2 classes"));
}

}  // namespace
}  // namespace vitascope::weights
