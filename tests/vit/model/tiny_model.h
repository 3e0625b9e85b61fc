#pragma once

#include <ATen/ATen.h>

#include "vit/model/vision_transformer.h"

/// \file
/// A vision transformer small enough to check by hand.
namespace vitascope::model::tests {

/// 2 blocks, 12 wide, 3 heads, patches of 4 pixels, a position grid of 2 x 3.
inline Config tiny_config() {
  Config config;
  config.width = 12;
  config.depth = 2;
  config.heads = 3;
  config.mlp_width = 20;
  config.patch = 4;
  config.position_grid = config.native_grid = {2, 3};
  config.classes = 5;
  return config;
}

/// The model with seeded normal weights.
inline VisionTransformer random_weights(const Config& config) {
  VisionTransformer network(config);
  at::manual_seed(11);
  const auto shapes = parameter_shapes(config);
  auto slots = network.parameters();
  for (std::size_t i = 0; i < slots.size(); ++i)
    *slots[i].second = at::randn(shapes[i].shape) * 0.3;
  return network;
}

}  // namespace vitascope::model::tests
