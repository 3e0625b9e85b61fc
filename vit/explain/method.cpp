#include "vit/explain/method.h"

#include <ATen/ATen.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "vit/error.h"
#include "vit/explain/answers.h"
#include "vit/explain/gradcam.h"
#include "vit/explain/legrad.h"
#include "vit/explain/random_map.h"
#include "vit/explain/relevance.h"

namespace vitascope::explain {
namespace {

at::Tensor occluded(const Scores& probabilities, const at::Tensor& pixels,
                    const std::vector<std::int64_t>& classes, int patch, const MapOptions& options,
                    const Batching& batching) {
  const int edge = options.occlusion.edge > 0 ? options.occlusion.edge : patch;
  const int stride = options.occlusion.stride > 0 ? options.occlusion.stride : edge;
  return occlusion(probabilities, pixels, classes, {edge, stride, {}}, batching);
}

at::Tensor risen(const Scores& probabilities, const at::Tensor& pixels,
                 const std::vector<std::int64_t>& classes, int /*patch*/, const MapOptions& options,
                 const Batching& batching) {
  RiseOptions rise_options;
  rise_options.masks = options.rise_masks;
  rise_options.seed = options.seed;
  return rise(probabilities, pixels, classes, rise_options, batching);
}

}  // namespace

const std::vector<Method>& methods() {
  static const std::vector<Method> all{
      {"raw",
       "where the class token, or a chosen patch, of one layer looks",
       {.attention = true},
       [](const Recorded& recorded, const MapOptions& options) {
         return attention_map(recorded, options.query, options.picture);
       }},
      {"rollout",
       "attention followed through all layers",
       {.attention = true},
       [](const Recorded& recorded, const MapOptions& options) {
         return rollout(recorded, options.rollout, options.picture);
       }},
      {"gradient-rollout",
       "rollout of attention times the class's gradient",
       {.attention_gradients = true},
       [](const Recorded& recorded, const MapOptions& options) {
         return gradient_rollout(recorded, options.rollout, options.picture);
       }},
      {"relevance",
       "attention times gradient, summed along the residual connections (Chefer)",
       {.attention_gradients = true},
       [](const Recorded& recorded, const MapOptions& options) {
         return relevance(recorded, options.picture);
       }},
      {"gradcam",
       "the last block's tokens, weighted by the class's gradient",
       {.norm1_gradient = true},
       [](const Recorded& recorded, const MapOptions& options) {
         return gradcam(recorded, options.positive_only, options.picture);
       }},
      {"legrad",
       "how sensitive each layer's answer is to its attention",
       {.layer_gradients = true},
       [](const Recorded& recorded, const MapOptions& options) {
         return legrad(recorded, options.picture);
       }},
      {"random",
       "a map that knows nothing, to compare with",
       {},
       [](const Recorded& recorded, const MapOptions& options) {
         return random_map(recorded.grid, options.seed);
       }},
      {.name = "occlusion",
       .summary = "how much is lost when a square hides part of the photo",
       .probe = occluded},
      {.name = "rise",
       .summary = "what is left in view when the class stays probable",
       .probe = risen}};
  return all;
}

const Method& find_method(std::string_view name) {
  std::vector<std::string_view> names;
  for (const Method& method : methods()) {
    if (method.name == name) return method;
    names.push_back(method.name);
  }
  throw UsageError(fmt::format("unknown method '{}': expected {}", name, fmt::join(names, ", ")));
}

std::vector<Map> probed_maps(const Method& method, const Scores& probabilities,
                             const at::Tensor& pixels, const std::vector<std::int64_t>& classes,
                             int patch, const MapOptions& options, const Batching& batching) {
  const at::Tensor over_input =
      method.probe(probabilities, pixels, classes, patch, options, batching);
  const at::Tensor values =
      cell_means(over_input, pixels.size(2) / patch, pixels.size(3) / patch).to(at::kFloat);
  std::vector<Map> maps;
  maps.reserve(classes.size());
  for (std::size_t i = 0; i < classes.size(); ++i) {
    Map map{values[static_cast<std::int64_t>(i)], std::string(method.name)};
    map.class_index = classes[i];
    maps.push_back(std::move(map));
  }
  return maps;
}

Map map_of(const Method& method, const model::VisionTransformer& network, const at::Tensor& pixels,
           std::int64_t of_class, const MapOptions& options, kernels::Backend backend) {
  if (method.probe != nullptr) {
    return probed_maps(method, probabilities_of(network, backend), pixels, {of_class},
                       network.config().patch, options)
        .front();
  }
  Recorded recorded = record(network, pixels, method.wanted, backend);
  if (method.needs_class()) take_gradients(network, recorded, {of_class});
  return method.read(recorded, options);
}

std::string refusal(const Method& method, const model::Config& config, const MapOptions& options) {
  if (method.needs_class() && config.classes == 0) {
    return fmt::format("{} explains a class, and this model has no head; raw and rollout need none",
                       method.name);
  }
  const bool rolls = method.name == "rollout" || method.name == "gradient-rollout";
  if (rolls && !config.class_token && options.rollout.discard > 0 &&
      options.rollout.rule == DiscardRule::keep_class_column) {
    return fmt::format("{} can't keep the class token's column: the model has no class token",
                       method.name);
  }
  return "";
}

}  // namespace vitascope::explain
