#include "vit/train/parameter_groups.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <stdexcept>

#include "tests/vit/train/golden_training.h"
#include "vit/error.h"

namespace vitascope::train {
namespace {

using model::ParameterShape;

TEST(ParameterGroups, LayersAndScalesAreTheGoldenOnes) {
  const Json golden = tests::golden_json("schedules").at("layer_decay");
  ASSERT_EQ(golden.size(), 2);
  for (const Json& item : golden) {
    const int depth = item.at("depth");
    std::vector<ParameterShape> parameters;
    for (const auto& [name, id] : item.at("layer_id").items()) {
      EXPECT_EQ(layer_id(name, depth), id) << name;
      parameters.push_back({name, {4, 4}});
    }
    ASSERT_GT(parameters.size(), 60);
    const auto rules = parameter_rules(parameters, depth, {.layer_decay = item.at("decay")});
    for (std::size_t i = 0; i < parameters.size(); ++i) {
      const int id = item.at("layer_id").at(parameters[i].name);
      tests::expect_relative(rules[i].rate_scale, item.at("scale_by_layer_id").at(id), 1e-9);
    }
  }
}

TEST(ParameterGroups, NamesOfOtherFamiliesHaveTheirLayer) {
  EXPECT_EQ(layer_id("dist_token", 12), 0);
  EXPECT_EQ(layer_id("norm_pre.weight", 12), 0);
  EXPECT_EQ(layer_id("blocks.11.attn.qkv.lora_a", 12), 12);
  EXPECT_EQ(layer_id("fc_norm.bias", 12), 13);
  EXPECT_EQ(layer_id("head_dist.weight", 12), 13);
  EXPECT_THROW(layer_id("blocks.12.norm1.weight", 12), std::invalid_argument);
  EXPECT_THROW(layer_id("blocks.x", 12), std::invalid_argument);
}

TEST(ParameterGroups, OnlyMatricesDecay) {
  model::Config config;
  config.depth = 1;
  config.registers = 4;
  config.layer_scale = true;
  config.distillation_token = true;
  config.position_prefix = 2;
  config.classes = 10;
  std::vector<std::string> decaying;
  const std::vector<ParameterShape> parameters = parameter_shapes(config);
  const auto rules = parameter_rules(parameters, 1, {.weight_decay = .3});
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    EXPECT_THAT(rules[i].weight_decay, testing::AnyOf(0, .3));
    if (rules[i].weight_decay != 0) decaying.push_back(parameters[i].name);
  }
  EXPECT_THAT(decaying,
              testing::UnorderedElementsAre("patch_embed.proj.weight", "blocks.0.attn.qkv.weight",
                                            "blocks.0.attn.proj.weight", "blocks.0.mlp.fc1.weight",
                                            "blocks.0.mlp.fc2.weight", "head.weight"));
}

TEST(ParameterGroups, HeadLearnsAtItsOwnRate) {
  const std::vector<ParameterShape> parameters{{"head.weight", {2, 4}}, {"norm.weight", {4}}};
  const auto rules = parameter_rules(parameters, 3, {.layer_decay = .5, .head_scale = 10});
  EXPECT_EQ(rules[0].rate_scale, 10);
  EXPECT_EQ(rules[1].rate_scale, 1);
}

TEST(ParameterGroups, RefuseOptionsOutOfRange) {
  for (const RuleOptions& wrong : {RuleOptions{.weight_decay = -1}, RuleOptions{.layer_decay = 0},
                                   RuleOptions{.layer_decay = 1.1}, RuleOptions{.head_scale = 0}}) {
    EXPECT_THROW(parameter_rules({}, 1, wrong), UsageError);
  }
}

}  // namespace
}  // namespace vitascope::train
