#include "vit/explain/rollout.h"

#include <c10/core/InferenceMode.h>
#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <stdexcept>

#include "vit/explain/layer.h"

namespace vitascope::explain {
namespace {

using FusedMatrix = std::function<at::Tensor(const Layer&)>;  ///< [N, N], its own memory

at::Tensor fused_probabilities(const Layer& layer, HeadFusion fusion) {
  if (fusion == HeadFusion::mean) return layer.mean_probabilities();
  at::Tensor fused = layer.probabilities(0);
  for (int head = 1; head < layer.heads(); ++head) {
    const at::Tensor next = layer.probabilities(head);
    if (fusion == HeadFusion::max) {
      at::maximum_out(fused, fused, next);
    } else {
      at::minimum_out(fused, fused, next);
    }
  }
  return fused;
}

at::Tensor fused_with_gradients(const Layer& layer, const std::vector<at::Tensor>& gradients) {
  at::Tensor sum = layer.probabilities(0).mul_(layer.gradient(0, gradients));
  for (int head = 1; head < layer.heads(); ++head) {
    sum.addcmul_(layer.probabilities(head), layer.gradient(head, gradients));
  }
  return sum.div_(layer.heads()).relu_();
}

/// Whether the model has the class token that the rule speaks of.
DiscardRule checked_rule(const Recorded& recorded, const RolloutOptions& options) {
  if (!(options.discard >= 0 && options.discard < 1)) {
    throw std::invalid_argument(
        fmt::format("rollout discards a share of at least 0 and below 1, got {}", options.discard));
  }
  if (recorded.class_token || options.rule == DiscardRule::keep_nothing) return options.rule;
  if (options.rule == DiscardRule::keep_first) return DiscardRule::keep_nothing;
  throw std::invalid_argument(
      "rollout can't keep the class token's column: the model has no class token");
}

at::Tensor followed(const Recorded& recorded, const RolloutOptions& options,
                    const at::Tensor& start, std::int64_t picture, const FusedMatrix& fuse) {
  const c10::InferenceMode inference;
  const DiscardRule rule = checked_rule(recorded, options);
  at::Tensor rows = start;
  for (int number = depth(recorded) - 1; number >= 0; --number) {
    at::Tensor matrix = fuse(Layer(recorded, number, picture));
    if (options.discard > 0) discard_lowest(matrix, options.discard, rule);
    matrix.diagonal().add_(1);  // the half of (F + I) / 2 goes with the division
    matrix.div_(matrix.sum(1, /*keepdim=*/true));
    rows = rows.matmul(matrix);
  }
  return rows;
}

}  // namespace

void discard_lowest(at::Tensor& fused, double share, DiscardRule rule) {
  const at::Tensor on_cpu = fused.to(at::kCPU).contiguous();
  const std::int64_t tokens = on_cpu.size(0);
  float* values = on_cpu.data_ptr<float>();
  const auto candidate = [&](std::int64_t i) {
    return rule != DiscardRule::keep_class_column || i % tokens != 0;
  };
  std::vector<float> sorted;
  sorted.reserve(static_cast<std::size_t>(on_cpu.numel()));
  for (std::int64_t i = 0; i < on_cpu.numel(); ++i) {
    if (candidate(i)) sorted.push_back(values[i]);
  }
  const auto count = static_cast<std::ptrdiff_t>(static_cast<double>(sorted.size()) * share);
  if (count == 0) return;
  std::nth_element(sorted.begin(), sorted.begin() + count - 1, sorted.end());
  const float last = sorted[static_cast<std::size_t>(count - 1)];
  // Below it all go; of those equal to it as many as are left.
  std::ptrdiff_t equal = count - std::count_if(sorted.begin(), sorted.begin() + count,
                                               [&](float value) { return value < last; });
  for (std::int64_t i = 0; i < on_cpu.numel(); ++i) {
    if (!candidate(i) || values[i] > last) continue;
    if (values[i] == last && equal-- <= 0) continue;
    if (i > 0 || rule != DiscardRule::keep_first) values[i] = 0;
  }
  if (!on_cpu.is_same(fused)) fused.copy_(on_cpu);
}

at::Tensor rollout_rows(const Recorded& recorded, const RolloutOptions& options,
                        const at::Tensor& start, std::int64_t picture) {
  return followed(recorded, options, start, picture,
                  [&](const Layer& layer) { return fused_probabilities(layer, options.fusion); });
}

Map rollout(const Recorded& recorded, const RolloutOptions& options, std::int64_t picture) {
  const at::Tensor row = rollout_rows(recorded, options, recorded.readout, picture);
  return {.values = on_grid(recorded, row), .method = "rollout"};
}

Map gradient_rollout(const Recorded& recorded, const RolloutOptions& options,
                     std::int64_t picture) {
  const at::Tensor row = followed(
      recorded, options, recorded.readout, picture,
      [&](const Layer& layer) { return fused_with_gradients(layer, recorded.output_gradients); });
  return {.values = on_grid(recorded, row),
          .method = "gradient-rollout",
          .class_index = recorded.classes.at(static_cast<std::size_t>(picture))};
}

}  // namespace vitascope::explain
