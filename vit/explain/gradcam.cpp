#include "vit/explain/gradcam.h"

#include <c10/core/InferenceMode.h>

#include <stdexcept>

#include "vit/explain/layer.h"

namespace vitascope::explain {

Map gradcam(const Recorded& recorded, bool positive_only, std::int64_t picture) {
  const c10::InferenceMode inference;
  if (!recorded.norm1_gradient.defined()) throw std::invalid_argument("no gradients were taken");
  const at::Tensor tokens = recorded.trace.last_norm1.detach()[picture].to(at::kFloat);  // [N, C]
  const at::Tensor channels =
      recorded.norm1_gradient[picture].to(at::kFloat).slice(0, recorded.prefix).mean(0);
  const at::Tensor map = on_grid(recorded, tokens.matmul(channels));
  return {.values = positive_only ? map.relu() : map,
          .method = "gradcam",
          .class_index = recorded.classes.at(static_cast<std::size_t>(picture))};
}

}  // namespace vitascope::explain
