#include "vit/explain/attention_maps.h"

#include <c10/core/InferenceMode.h>
#include <fmt/format.h>

#include <stdexcept>

#include "vit/explain/layer.h"

namespace vitascope::explain {
namespace {

void check(const Recorded& recorded, const Layer& layer, const Query& query) {
  const auto within = [](std::int64_t number, std::int64_t count, const char* what) {
    if (number >= 0 && number < count) return;
    throw std::invalid_argument(
        fmt::format("there is no {} {}: expected 0 to {}", what, number, count - 1));
  };
  if (query.head) within(*query.head, layer.heads(), "head");
  if (query.patch) within(*query.patch, recorded.grid.count(), "patch");
}

/// float32 [1, N]: how much each query counts.
at::Tensor query_weights(const Recorded& recorded, const Query& query) {
  if (!query.patch) return recorded.readout;
  at::Tensor weights = at::zeros_like(recorded.readout);
  weights.select(1, recorded.prefix + *query.patch).fill_(1);
  return weights;
}

}  // namespace

Map attention_map(const Recorded& recorded, const Query& query, std::int64_t picture) {
  const c10::InferenceMode inference;
  const int number = query.layer.value_or(depth(recorded) - 1);
  const Layer layer(recorded, number, picture);
  check(recorded, layer, query);
  const at::Tensor weights = query_weights(recorded, query);
  const at::Tensor rows = weights[0].nonzero().flatten();
  const at::Tensor counted = weights.index_select(1, rows);  // [1, R]
  // A row for each head: [H, N]. One head's matrix is the most that is in memory.
  std::vector<at::Tensor> heads;
  for (int head = query.head.value_or(0); head < query.head.value_or(layer.heads() - 1) + 1;
       ++head) {
    heads.push_back(counted.matmul(layer.probabilities(head, rows)));
  }
  const at::Tensor all = at::cat(heads);
  const at::Tensor fused = query.fusion == HeadFusion::mean  ? all.mean(0)
                           : query.fusion == HeadFusion::max ? all.amax(0)
                                                             : all.amin(0);
  return {.values = on_grid(recorded, fused),
          .method = "raw",
          .layer = number,
          .head = query.head,
          .patch = query.patch};
}

}  // namespace vitascope::explain
