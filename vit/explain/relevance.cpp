#include "vit/explain/relevance.h"

#include <c10/core/InferenceMode.h>

#include "vit/explain/layer.h"

namespace vitascope::explain {

at::Tensor relevance_rows(const Recorded& recorded, const at::Tensor& start, std::int64_t picture) {
  const c10::InferenceMode inference;
  at::Tensor rows = start;
  for (int number = depth(recorded) - 1; number >= 0; --number) {
    const Layer layer(recorded, number, picture);
    at::Tensor gained = at::zeros_like(rows);
    for (int head = 0; head < layer.heads(); ++head) {
      at::Tensor positive = layer.gradient(head, recorded.output_gradients);
      gained.addmm_(rows, positive.mul_(layer.probabilities(head)).relu_());
    }
    rows = rows + gained.div_(layer.heads());
  }
  return rows;
}

Map relevance(const Recorded& recorded, std::int64_t picture) {
  return {.values = on_grid(recorded, relevance_rows(recorded, recorded.readout, picture)),
          .method = "relevance",
          .class_index = recorded.classes.at(static_cast<std::size_t>(picture))};
}

}  // namespace vitascope::explain
