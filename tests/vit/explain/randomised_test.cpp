#include "vit/explain/randomised.h"

#include <ATen/ATen.h>
#include <gmock/gmock.h>

#include "tests/vit/model/tiny_model.h"

namespace vitascope::explain {
namespace {

using model::VisionTransformer;
using testing::ElementsAre;

std::map<std::string, at::Tensor> parameters_of(VisionTransformer network) {
  std::map<std::string, at::Tensor> all;
  for (auto& [name, slot] : network.parameters()) all.emplace(name, *slot);
  return all;
}

std::vector<std::string> parts_of(const std::vector<ForgetfulNetwork>& networks) {
  std::vector<std::string> parts;
  for (const ForgetfulNetwork& one : networks) parts.push_back(one.part);
  return parts;
}

TEST(Cascade, ForgetsFromTheHeadDown) {
  const VisionTransformer network = model::tests::random_weights(model::tests::tiny_config());
  const auto before = parameters_of(network);
  std::map<std::string, at::Tensor> copies;
  for (const auto& [name, tensor] : before) copies.emplace(name, tensor.clone());

  const std::vector<ForgetfulNetwork> networks = cascade(network, 3);
  EXPECT_THAT(parts_of(networks), ElementsAre("head", "blocks.1", "blocks.0", "embedding"));
  const auto changed = [&](std::size_t stage, const std::string& name) {
    return !parameters_of(networks[stage].network).at(name).equal(before.at(name));
  };
  const std::pair<const char*, std::size_t> first_changed[] = {{"head.weight", 0},
                                                               {"norm.weight", 0},
                                                               {"blocks.1.attn.qkv.weight", 1},
                                                               {"blocks.1.mlp.fc2.bias", 1},
                                                               {"blocks.0.norm1.bias", 2},
                                                               {"blocks.0.mlp.fc1.weight", 2},
                                                               {"pos_embed", 3},
                                                               {"cls_token", 3},
                                                               {"patch_embed.proj.weight", 3}};
  for (const auto& [name, first] : first_changed) {
    for (std::size_t stage = 0; stage < networks.size(); ++stage) {
      EXPECT_EQ(changed(stage, name), stage >= first) << name << " at " << stage;
    }
  }
  for (const auto& [name, tensor] : parameters_of(networks.back().network)) {
    // The same numbers in another order, and the network itself is left alone.
    EXPECT_TRUE(
        std::get<0>(tensor.flatten().sort()).equal(std::get<0>(copies.at(name).flatten().sort())))
        << name;
    EXPECT_TRUE(before.at(name).equal(copies.at(name))) << name;
  }
}

TEST(Cascade, OfABackboneBeginsWithTheLastBlock) {
  model::Config config = model::tests::tiny_config();
  config.classes = 0;
  const auto networks = cascade(model::tests::random_weights(config), 3);
  EXPECT_THAT(parts_of(networks), ElementsAre("blocks.1", "blocks.0", "embedding"));
}

TEST(Cascade, IsTheSameForTheSameSeed) {
  const VisionTransformer network = model::tests::random_weights(model::tests::tiny_config());
  const auto last = [&](std::uint64_t seed) {
    return parameters_of(cascade(network, seed).back().network).at("pos_embed");
  };
  EXPECT_TRUE(last(1).equal(last(1)));
  EXPECT_FALSE(last(1).equal(last(2)));
}

TEST(CascadeCorrelations, AreOfRanks) {
  const at::Tensor map = at::tensor({1.0, 2.0, 3.0, 10.0}).view({2, 2});
  const VisionTransformer network = model::tests::random_weights(model::tests::tiny_config());
  const std::vector<ForgetfulNetwork> networks{{"a", network}, {"b", network}, {"c", network}};
  const at::Tensor theirs[] = {map.exp(), -map, at::ones({2, 2})};
  std::size_t asked = 0;
  const auto stages = cascade_correlations(
      networks, map, [&](const VisionTransformer&) { return Map{theirs[asked++]}; });
  ASSERT_EQ(stages.size(), 3u);
  EXPECT_EQ(stages[0].part, "a");
  EXPECT_DOUBLE_EQ(stages[0].correlation.value(), 1);
  EXPECT_DOUBLE_EQ(stages[1].correlation.value(), -1);
  EXPECT_FALSE(stages[2].correlation.has_value());
}

}  // namespace
}  // namespace vitascope::explain
