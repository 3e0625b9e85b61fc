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
  std::string grid;  ///< --grid: heads, layers, methods or nothing
  std::uint64_t seed = 0;
};

/// One map of a photo.
struct MapRequest {
  std::string method;           ///< a name of map_methods()
  explain::MapOptions options;  ///< of the methods that read a recorded pass
  std::string label;            ///< what tells it from others beside it
  std::string description;      ///< for a caption: "raw attention of layer 11, mean of 12 heads"
};

/// Every method's name and half a sentence about it: those of one pass, then occlusion and rise.
std::vector<std::pair<std::string, std::string>> map_methods();

/// What a pass has to record for a method; nothing for occlusion and rise.
explain::Wanted wanted_by(const MapRequest& request);
/// Whether the method explains one class.
bool needs_class(const MapRequest& request);

/// The maps of each photo.
/// \throws UsageError when a layer or head is not there, flags contradict each other, or the model
///         can't be explained so
std::vector<MapRequest> map_requests(const MapChoice& choice, const model::Config& config);

}  // namespace vitascope::app
