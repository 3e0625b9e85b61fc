#pragma once

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/golden.h"
#include "vit/json.h"
#include "vit/model/vision_transformer.h"
#include "vit/weights/safetensors.h"
#include "vit/weights/tensor_assembly.h"

/// \file
/// The three tiny models of tests/golden/explain with what float64 formulas give for them.
namespace vitascope::explain {

/// Names of the models.
inline constexpr const char* kGoldenModels[] = {"vit_4x4", "vit_3x5", "vit_4x4_reg4"};

/// A model, its photo and the expected values.
struct GoldenModel {
  explicit GoldenModel(const std::string& name)
      : folder(tests::golden("explain/" + name)),
        facts(read_json(folder + "/config.json")),
        expected(weights::read_safetensors(folder + "/golden.safetensors")),
        stored(weights::read_safetensors(folder + "/model.safetensors")),
        network(described(facts)) {
    for (const auto& [parameter, slot] : network.parameters()) *slot = weight(parameter);
  }

  /// An expected value, or the photo, as stored.
  at::Tensor operator[](const std::string& key) const {
    return weights::view_of(expected.tensors.at(key));
  }

  at::Tensor weight(const std::string& key) const {
    return weights::view_of(stored.tensors.at(key));
  }

  std::vector<std::int64_t> classes() const { return facts.at("classes"); }
  model::Grid grid() const { return {facts.at("grid").at(0), facts.at("grid").at(1)}; }

  /// [B, classes]
  at::Tensor logits(const at::Tensor& pixels) const { return network.forward(pixels).logits; }
  at::Tensor probabilities(const at::Tensor& pixels) const { return logits(pixels).softmax(-1); }

  static model::Config described(const Json& facts) {
    model::Config config;
    config.width = facts.at("embed_dim");
    config.depth = facts.at("depth");
    config.heads = facts.at("num_heads");
    config.patch = facts.at("patch_size");
    config.mlp_width = config.width * facts.at("mlp_ratio").get<int>();
    config.classes = facts.at("num_classes");
    config.registers = facts.at("reg_tokens");
    config.position_prefix = facts.at("no_embed_class").get<bool>() ? 0 : 1;
    config.layer_scale = facts.at("layer_scale");
    config.native_grid = config.position_grid = {facts.at("grid").at(0), facts.at("grid").at(1)};
    return config;
  }

  std::string folder;
  Json facts;
  weights::StoredTensors expected, stored;
  model::VisionTransformer network;
};

/// Within `relative` of the largest expected value.
inline void expect_close(const at::Tensor& got, const at::Tensor& expected, double relative) {
  ASSERT_EQ(got.sizes(), expected.sizes());
  const at::Tensor exact = expected.to(at::kDouble);
  const double error = (got.to(at::kDouble) - exact).abs().max().item<double>();
  EXPECT_LE(error, relative * exact.abs().max().item<double>());
}

}  // namespace vitascope::explain
