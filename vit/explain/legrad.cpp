#include "vit/explain/legrad.h"

#include <c10/core/InferenceMode.h>

#include "vit/explain/layer.h"

namespace vitascope::explain {

Map legrad(const Recorded& recorded, std::int64_t picture) {
  const c10::InferenceMode inference;
  at::Tensor sum = at::zeros_like(recorded.readout[0]);  // [N]
  for (int number = 0; number < depth(recorded); ++number) {
    const Layer layer(recorded, number, picture);
    for (int head = 0; head < layer.heads(); ++head) {
      sum += layer.gradient(head, recorded.layer_gradients).relu_().mean(0) / layer.heads();
    }
  }
  return {.values = on_grid(recorded, sum / depth(recorded)),
          .method = "legrad",
          .class_index = recorded.classes.at(static_cast<std::size_t>(picture))};
}

}  // namespace vitascope::explain
