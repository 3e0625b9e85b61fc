#pragma once

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/golden.h"
#include "vit/explain/map.h"
#include "vit/explain/record.h"
#include "vit/json.h"
#include "vit/model/vision_transformer.h"
#include "vit/weights/safetensors.h"
#include "vit/weights/tensor_assembly.h"

/// \file
/// The models of tests/golden/explain and the numbers that Python gave for them.
namespace vitascope::tests {

/// One of the three models.
class GoldenVit {
 public:
  explicit GoldenVit(const std::string& name)
      : folder_(golden("explain/" + name)),
        description_(read_json(folder_ + "/config.json")),
        golden_(weights::read_safetensors(folder_ + "/golden.safetensors")),
        legrad_(weights::read_safetensors(folder_ + "/legrad.safetensors")),
        stored_(weights::read_safetensors(folder_ + "/model.safetensors")),
        network(described()) {
    for (auto& [parameter, slot] : network.parameters()) *slot = weight(parameter).clone();
  }

  /// A golden tensor by name.
  at::Tensor operator[](const std::string& name) const {
    const auto found = golden_.tensors.find(name);
    return weights::view_of(found != golden_.tensors.end() ? found->second
                                                           : legrad_.tensors.at(name));
  }

  /// A parameter by timm's name.
  at::Tensor weight(const std::string& name) const {
    return weights::view_of(stored_.tensors.at(name));
  }

  /// [B, classes]
  at::Tensor logits(const at::Tensor& pixels) const { return network.forward(pixels).logits; }
  at::Tensor probabilities(const at::Tensor& pixels) const { return logits(pixels).softmax(-1); }

  model::Grid grid() const { return network.config().native_grid; }
  std::vector<std::int64_t> classes() const {
    return description_.at("classes").get<std::vector<std::int64_t>>();
  }
  const Json& description() const { return description_; }
  explain::Recorded record(const explain::Wanted& wanted) const {
    return explain::record(network, (*this)["image"], wanted);
  }
  /// The same with a class's gradients.
  explain::Recorded record(const explain::Wanted& wanted, std::int64_t class_index) const {
    explain::Recorded recorded = record(wanted);
    explain::take_gradients(network, recorded, {class_index});
    return recorded;
  }

 private:
  model::Config described() const {
    const auto number = [&](const char* key) { return description_.at(key).get<int>(); };
    model::Config config;
    config.width = number("embed_dim");
    config.depth = number("depth");
    config.heads = number("num_heads");
    config.mlp_width = config.width * number("mlp_ratio");
    config.patch = number("patch_size");
    config.classes = number("num_classes");
    config.registers = number("reg_tokens");
    config.position_prefix = description_.at("no_embed_class").get<bool>() ? 0 : 1;
    config.layer_scale = description_.at("layer_scale").get<bool>();
    config.position_grid = config.native_grid = {description_.at("grid")[0].get<int>(),
                                                 description_.at("grid")[1].get<int>()};
    return config;
  }

  std::string folder_;
  Json description_;  ///< config.json
  weights::StoredTensors golden_, legrad_, stored_;

 public:
  model::VisionTransformer network;
};

/// The largest difference as a share of the expected tensor's largest value.
inline double relative_difference(const at::Tensor& ours, const at::Tensor& expected) {
  EXPECT_EQ(ours.sizes(), expected.sizes());
  const double scale = expected.abs().max().item<double>();
  const double difference = (ours.to(at::kDouble) - expected).abs().max().item<double>();
  return scale > 0 ? difference / scale : difference;
}

/// Within `relative` of the largest expected value.
inline void expect_close(const at::Tensor& ours, const at::Tensor& expected, double relative) {
  EXPECT_LE(relative_difference(ours, expected), relative);
}

/// What float32 may differ by from float64; Python's does by 2e-6.
inline constexpr double kRelative = 1e-5;

/// A test for each model.
class GoldenExplanation : public testing::TestWithParam<const char*> {
 protected:
  GoldenVit vit{GetParam()};
  void expect_golden(const explain::Map& map, const std::string& name) const {
    EXPECT_LE(relative_difference(map.values, vit[name]), kRelative) << name;
  }
};

}  // namespace vitascope::tests

/// Instantiates the tests of a GoldenExplanation for the three models.
#define VITASCOPE_FOR_GOLDEN_VITS(suite)                                                         \
  INSTANTIATE_TEST_SUITE_P(Models, suite, testing::Values("vit_4x4", "vit_3x5", "vit_4x4_reg4"), \
                           [](const auto& each) { return std::string(each.param); })
