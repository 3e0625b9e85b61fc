#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "vit/explain/attention_maps.h"
#include "vit/explain/map.h"
#include "vit/explain/perturbation.h"
#include "vit/explain/record.h"
#include "vit/explain/rollout.h"
#include "vit/model/config.h"

/// \file
/// All methods, by name: those that read one recorded pass, and those that run the network many
/// times.
namespace vitascope::explain {

/// Occlusion's squares, in input pixels.
struct SquareSize {
  int edge = 0;    ///< 0: a patch
  int stride = 0;  ///< 0: the edge
};

/// What may be said to methods; each reads what concerns it.
struct MapOptions {
  Query query{};              ///< raw
  RolloutOptions rollout{};   ///< rollout, gradient-rollout
  bool positive_only = true;  ///< gradcam
  std::uint64_t seed = 0;     ///< random, rise
  SquareSize occlusion{};
  int rise_masks = 1000;
  std::int64_t picture = 0;  ///< of the batch
};

/// A method, and what it asks for. Either `read` or `probe` is there.
struct Method {
  std::string_view name;
  std::string_view summary;  ///< half a sentence for a list
  Wanted wanted{};
  /// The map that one recorded pass gives.
  Map (*read)(const Recorded&, const MapOptions&) = nullptr;
  /// The maps that the answers to altered pictures give: [classes, H, W] over the input `pixels`
  /// [1, 3, H, W].
  at::Tensor (*probe)(const Scores& probabilities, const at::Tensor& pixels,
                      const std::vector<std::int64_t>& classes, int patch, const MapOptions&,
                      const Batching&) = nullptr;

  /// Whether it explains one class; take_gradients comes before `read` then.
  bool needs_class() const { return wanted.gradients() || probe != nullptr; }
};

/// All of them, in the order in which they are shown.
const std::vector<Method>& methods();

/// \throws UsageError with the names
const Method& find_method(std::string_view name);

/// The maps of a method of many passes.
/// \param pixels [1, 3, H, W]
/// \return one for each class
std::vector<Map> probed_maps(const Method& method, const Scores& probabilities,
                             const at::Tensor& pixels, const std::vector<std::int64_t>& classes,
                             int patch, const MapOptions& options, const Batching& batching = {});

/// The map of any method, from pixels on.
/// \param pixels   [1, 3, H, W]
/// \param of_class where the method needs one
Map map_of(const Method& method, const model::VisionTransformer& network, const at::Tensor& pixels,
           std::int64_t of_class, const MapOptions& options,
           kernels::Backend backend = kernels::Backend::automatic);

/// Why a model can't be explained so, in one sentence; empty where it can.
std::string refusal(const Method& method, const model::Config& config, const MapOptions& options);

}  // namespace vitascope::explain
