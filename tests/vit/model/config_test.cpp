#include "vit/model/config.h"

#include <gmock/gmock.h>

#include <limits>
#include <map>
#include <stdexcept>

namespace vitascope::model {
namespace {

using testing::HasSubstr;

/// The message of validate(), or "" when it accepts.
std::string complaint(const Config& config) {
  try {
    validate(config);
    return "";
  } catch (const std::invalid_argument& error) {
    return error.what();
  }
}

template <typename Change>
std::string complaint_after(Change change) {
  Config config;
  change(config);
  return complaint(config);
}

TEST(Validate, AcceptsThePlainModel) { EXPECT_EQ(complaint(Config{}), ""); }

TEST(Validate, NamesTheKeyItsValueAndWhatItMustBe) {
  EXPECT_EQ(complaint_after([](Config& c) { c.width = 0; }), "width is 0: expected 1 to 16384");
  EXPECT_EQ(complaint_after([](Config& c) { c.heads = 7; }),
            "number of heads is 7: expected a divisor of the width, 768");
  EXPECT_EQ(complaint_after([](Config& c) { c.channels = 1; }),
            "number of channels is 1: expected 3 (RGB)");
}

TEST(Validate, RefusesAbsurdNumbers) {
  const int huge = std::numeric_limits<int>::max();
  EXPECT_THAT(complaint_after([&](Config& c) { c.width = huge; }), HasSubstr("width"));
  EXPECT_THAT(complaint_after([&](Config& c) { c.depth = huge; }), HasSubstr("depth"));
  EXPECT_THAT(complaint_after([&](Config& c) { c.heads = 0; }), HasSubstr("heads"));
  EXPECT_THAT(complaint_after([&](Config& c) { c.mlp_width = -1; }), HasSubstr("MLP width"));
  EXPECT_THAT(complaint_after([&](Config& c) { c.patch = 0; }), HasSubstr("patch size"));
  EXPECT_THAT(complaint_after([&](Config& c) { c.registers = huge; }), HasSubstr("registers"));
  EXPECT_THAT(complaint_after([&](Config& c) { c.classes = huge; }), HasSubstr("classes"));
  EXPECT_THAT(complaint_after([&](Config& c) {
                c.position_grid = {huge, huge};
              }),
              HasSubstr("position grid"));
  EXPECT_THAT(complaint_after([&](Config& c) {
                c.native_grid = {14, 0};
              }),
              HasSubstr("native grid"));
}

TEST(Validate, RefusesAnEpsilonThatIsNone) {
  for (const double epsilon : {0.0, -1e-6, 1.0, std::numeric_limits<double>::quiet_NaN()}) {
    EXPECT_THAT(complaint_after([&](Config& c) { c.norm_epsilon = epsilon; }),
                HasSubstr("epsilon"));
  }
}

TEST(Validate, RefusesPoolingOverTokensThatDoNotExist) {
  const auto without_class = [](Config& c) {
    c.class_token = false;
    c.position_prefix = 0;
  };
  EXPECT_THAT(complaint_after(without_class), HasSubstr("class token"));
  EXPECT_THAT(complaint_after([](Config& c) { c.pooling = Pooling::first_two; }),
              HasSubstr("distillation token"));
}

TEST(Validate, PositionEmbeddingsBelongToAllPrefixTokensToNoneOrToAllButRegisters) {
  Config config;
  config.registers = 4;
  for (const int prefix : {0, 1, 5}) {
    config.position_prefix = prefix;
    EXPECT_EQ(complaint(config), "") << prefix;
  }
  config.position_prefix = 3;
  EXPECT_THAT(complaint(config), HasSubstr("expected 0, 1 or 5"));
}

TEST(ParameterShapes, FollowTimmsNames) {
  Config config;
  config.width = 8;
  config.depth = 1;
  config.heads = 2;
  config.mlp_width = 12;
  config.patch = 4;
  config.position_grid = {2, 3};
  config.classes = 5;
  config.registers = 2;
  config.position_prefix = 3;
  config.qk_norm = true;
  config.layer_scale = true;
  config.swiglu = true;
  config.pooling = Pooling::class_and_mean;
  std::map<std::string, std::vector<std::int64_t>> shapes;
  for (const auto& parameter : parameter_shapes(config)) shapes[parameter.name] = parameter.shape;
  const std::map<std::string, std::vector<std::int64_t>> expected = {
      {"cls_token", {1, 1, 8}},
      {"reg_token", {1, 2, 8}},
      {"pos_embed", {1, 9, 8}},
      {"patch_embed.proj.weight", {8, 3, 4, 4}},
      {"patch_embed.proj.bias", {8}},
      {"blocks.0.norm1.weight", {8}},
      {"blocks.0.norm1.bias", {8}},
      {"blocks.0.attn.qkv.weight", {24, 8}},
      {"blocks.0.attn.qkv.bias", {24}},
      {"blocks.0.attn.q_norm.weight", {4}},
      {"blocks.0.attn.q_norm.bias", {4}},
      {"blocks.0.attn.k_norm.weight", {4}},
      {"blocks.0.attn.k_norm.bias", {4}},
      {"blocks.0.attn.proj.weight", {8, 8}},
      {"blocks.0.attn.proj.bias", {8}},
      {"blocks.0.ls1.gamma", {8}},
      {"blocks.0.norm2.weight", {8}},
      {"blocks.0.norm2.bias", {8}},
      {"blocks.0.mlp.fc1.weight", {24, 8}},
      {"blocks.0.mlp.fc1.bias", {24}},
      {"blocks.0.mlp.fc2.weight", {8, 12}},
      {"blocks.0.mlp.fc2.bias", {8}},
      {"blocks.0.ls2.gamma", {8}},
      {"norm.weight", {8}},
      {"norm.bias", {8}},
      {"head.weight", {5, 16}},
      {"head.bias", {5}}};
  EXPECT_EQ(shapes, expected);
}

TEST(ParameterShapes, ADistilledModelHasTwoHeads) {
  Config config;
  config.distillation_token = true;
  config.position_prefix = 2;
  config.pooling = Pooling::first_two;
  config.classes = 10;
  const std::int64_t with_heads = parameter_count(config);
  config.classes = 0;
  EXPECT_EQ(with_heads - parameter_count(config), 2 * (10 * 768 + 10));
}

// ViT-B/16 at 224: the paper of DeiT and timm's tables give 17.6 G multiply-adds (GMACs 17.58),
// attention's own products included.
TEST(Flops, MatchThePublishedFigureOfViTBase) {
  Config config;
  config.classes = 1000;
  EXPECT_NEAR(double(flops(config, config.native_grid)) / 2e9, 17.58, 0.02);
}

TEST(Flops, FollowFromTheMatrixProducts) {
  Config config;
  config.width = 4;
  config.depth = 3;
  config.heads = 2;
  config.mlp_width = 6;
  config.patch = 2;
  config.classes = 5;
  const std::int64_t tokens = 7;                     // 2 x 3 patches and a class token
  const std::int64_t products = 6 * 4 * (3 * 2 * 2)  // patches
                                + 3 * (tokens * 4 * 12 + tokens * 4 * 4)  // qkv, proj
                                + 3 * (2 * tokens * tokens * 4)           // q k^T, a v
                                + 3 * (tokens * 4 * 6 * 2)                // fc1, fc2
                                + 5 * 4;                                  // head
  EXPECT_EQ(flops(config, {2, 3}), 2 * products);
}

}  // namespace
}  // namespace vitascope::model
