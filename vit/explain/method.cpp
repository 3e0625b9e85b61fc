#include "vit/explain/method.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "vit/error.h"
#include "vit/explain/gradcam.h"
#include "vit/explain/legrad.h"
#include "vit/explain/random_map.h"
#include "vit/explain/relevance.h"

namespace vitascope::explain {

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
       }}};
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
