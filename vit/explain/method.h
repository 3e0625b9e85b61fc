#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "vit/explain/attention_maps.h"
#include "vit/explain/map.h"
#include "vit/explain/record.h"
#include "vit/explain/rollout.h"
#include "vit/model/config.h"

/// \file
/// The methods that read one recorded pass, by name. Occlusion and RISE run the network many times
/// and lie in perturbation.h.
namespace vitascope::explain {

/// What may be said to methods; each reads what concerns it.
struct MapOptions {
  Query query{};              ///< raw
  RolloutOptions rollout{};   ///< rollout, gradient-rollout
  bool positive_only = true;  ///< gradcam
  std::uint64_t seed = 0;     ///< random
  std::int64_t picture = 0;   ///< of the batch
};

/// A method, and what it asks for.
struct Method {
  std::string_view name;
  std::string_view summary;  ///< half a sentence for a list
  Wanted wanted;
  Map (*map)(const Recorded&, const MapOptions&);

  /// Whether it explains one class; take_gradients comes before map then.
  bool needs_class() const { return wanted.gradients(); }
};

/// All of them, in the order in which they are shown.
const std::vector<Method>& methods();

/// \throws UsageError with the names
const Method& find_method(std::string_view name);

/// Why a model can't be explained so, in one sentence; empty where it can.
std::string refusal(const Method& method, const model::Config& config, const MapOptions& options);

}  // namespace vitascope::explain
