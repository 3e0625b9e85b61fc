#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "vit/explain/method.h"
#include "vit/model/config.h"

/// \file
/// From what a person asks of `attend` to the maps that are made of each photo.
namespace vitascope::app {

/// What the flags say.
struct MapChoice {
  std::vector<std::string> methods{"raw"};
  std::optional<int> layer;   ///< --layer; negative ones count from the last
  std::string head = "mean";  ///< --head: a number, mean, max or min
  double discard = 0;         ///< --discard
  std::string discard_rule = "first";
  std::string grid;               ///< --grid: heads, layers, methods or nothing
  explain::SquareSize occlusion;  ///< --occlusion-edge, --occlusion-stride
  int rise_masks = 1000;          ///< --rise-masks
  std::uint64_t seed = 0;
};

/// One map of a photo.
struct MapRequest {
  const explain::Method* method = nullptr;  ///< one of explain::methods()
  explain::MapOptions options;
  std::string label;        ///< what tells it from others beside it
  std::string description;  ///< for a caption: "raw attention of layer 11, mean of 12 heads"

  std::string name() const { return std::string(method->name); }
};

/// Whether any of the methods needs gradients, and so plain weights.
bool needs_gradients(const MapChoice& choice);

/// The maps of each photo.
/// \throws UsageError when a layer or head is not there, flags contradict each other, or the model
///         can't be explained so
std::vector<MapRequest> map_requests(const MapChoice& choice, const model::Config& config);

}  // namespace vitascope::app
