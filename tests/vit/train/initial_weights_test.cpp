#include "vit/train/initial_weights.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <cmath>
#include <map>

#include "tests/vit/model/tiny_model.h"
#include "vit/model/sincos_positions.h"
#include "vit/train/trainable.h"

namespace vitascope::train {
namespace {

/// Deviation of a standard normal variable that is cut off at 2.
const double kTruncated = std::sqrt(1 - 4 * std::exp(-2) / std::sqrt(2 * M_PI) / std::erf(M_SQRT2));

model::Config wide_config() {
  model::Config config = model::tests::tiny_config();
  config.width = 96;
  config.mlp_width = 192;
  config.stem = {16, 32};
  config.layer_scale = true;
  return config;
}

std::map<std::string, at::Tensor> initial(const model::Config& config, std::uint64_t seed = 1) {
  RandomNumbers random(seed);
  model::VisionTransformer network = initial_network(config, random);
  std::map<std::string, at::Tensor> values;
  for (const auto& [name, slot] : network.parameters()) values.emplace(name, *slot);
  return values;
}

double deviation(const at::Tensor& values) { return values.to(at::kDouble).std().item<double>(); }

TEST(InitialNetwork, HasTheDeviationsOfTheRecipes) {
  const auto values = initial(wide_config());
  const std::pair<const char*, double> expected[] = {
      {"blocks.0.attn.qkv.weight", std::sqrt(2.0 / (96 + 96))},
      {"blocks.1.mlp.fc2.weight", std::sqrt(2.0 / (192 + 96))},
      {"pos_embed", 0.02},
      {"patch_embed.stem.1.weight", std::sqrt(2.0 / (16 * 9))},
      {"patch_embed.proj.weight", std::sqrt(1.0 / 32)}};
  for (const auto& [name, wanted] : expected) {
    const at::Tensor& weight = values.at(name);
    EXPECT_NEAR(deviation(weight), kTruncated * wanted, 0.05 * wanted) << name;
    EXPECT_NEAR(weight.mean().item<double>(), 0, 0.1 * wanted) << name;
    EXPECT_LE(weight.abs().max().item<double>(), 2 * wanted * (1 + 1e-6)) << name;
  }
}

TEST(InitialNetwork, NormsAreNeutralAndBiasesZero) {
  const auto values = initial(wide_config());
  EXPECT_TRUE(at::equal(values.at("blocks.0.norm1.weight"), at::ones({96})));
  EXPECT_TRUE(at::equal(values.at("norm.bias"), at::zeros({96})));
  EXPECT_TRUE(at::equal(values.at("patch_embed.stem.0.bias"), at::zeros({16})));
  EXPECT_TRUE(at::equal(values.at("head.bias"), at::zeros({5})));
  EXPECT_TRUE(at::equal(values.at("blocks.1.ls2.gamma"), at::full({96}, 1e-5)));
}

TEST(InitialNetwork, DependsOnTheSeedAlone) {
  const auto one = initial(wide_config());
  const auto same = initial(wide_config());
  const auto other = initial(wide_config(), 2);
  for (const char* name : {"pos_embed", "patch_embed.stem.0.weight", "head.weight"}) {
    EXPECT_TRUE(at::equal(one.at(name), same.at(name))) << name;
    EXPECT_FALSE(at::equal(one.at(name), other.at(name))) << name;
  }
}

TEST(InitialNetwork, FixedPositionsAreComputedAndDoNotLearn) {
  model::Config config = wide_config();
  config.learned_positions = false;
  EXPECT_TRUE(at::equal(initial(config).at("pos_embed"),
                        model::sincos_positions(96, config.position_grid, 1)));
  for (const bool learned : {true, false}) {
    config.learned_positions = learned;
    RandomNumbers random(1);
    model::VisionTransformer network = initial_network(config, random);
    bool found = false;
    for (const Parameter& parameter : make_trainable(network, Tuning::full, {}, at::kFloat)) {
      found = found || parameter.name == "pos_embed";
    }
    EXPECT_EQ(found, learned);
  }
}

}  // namespace
}  // namespace vitascope::train
