#include "vit/caption/alignment/multi_head.h"

#include <ATen/ATen.h>

#include <cmath>

#include "kernels/attention.h"
#include "vit/caption/alignment/masked_softmax.h"

namespace vitascope::caption {
namespace {

/// [B, N, H * D] -> [B, H, N, D], a view.
at::Tensor by_head(const at::Tensor& x, std::int64_t heads) {
  return x.unflatten(-1, {heads, x.size(-1) / heads}).transpose(1, 2);
}

/// [B | 1, Q | 1, L] or [L] -> what broadcasts to [B, H, Q, L].
at::Tensor over_heads(const at::Tensor& visible) {
  if (!visible.defined()) return visible;
  return visible.dim() == 1 ? visible.view({1, 1, 1, -1}) : visible.unsqueeze(1);
}

}  // namespace

void MultiHead::list(const AlignmentConfig& config, const std::string& prefix, Slots& slots) {
  const auto layer = [&](const char* name, kernels::Weight& weight, std::int64_t inputs) {
    slots.push_back({prefix + "W_" + name, &weight.weight, {config.width, inputs}});
    slots.push_back({prefix + "b_" + name, &weight.bias, {config.width}});
  };
  layer("Q", query, config.query_width);
  layer("K", key, config.annotation_width);
  layer("V", value, config.annotation_width);
  layer("O", output, config.width);
}

std::pair<at::Tensor, at::Tensor> MultiHead::project(const at::Tensor& values) const {
  // b_K moves all scores of a query alike, which softmax does not feel: nothing depends on it, and
  // its gradient is 0 without the rounding that would be all there is of it.
  return {by_head(kernels::linear(values, {.weight = key.weight}), heads),
          by_head(kernels::linear(values, value), heads)};
}

MultiHead::Result MultiHead::attend(const at::Tensor& queries,
                                    const std::pair<at::Tensor, at::Tensor>& projected,
                                    const Field& field, Maps maps) const {
  const at::Tensor q = by_head(kernels::linear(queries, query), heads);
  const auto& [k, v] = projected;
  const at::Tensor visible = over_heads(field.visible);
  const bool differentiable = maps != Maps::none && (q.requires_grad() || k.requires_grad());
  Result result;
  at::Tensor joined;  // [B, Q, H * D]
  if (field.fading.defined() || differentiable) {
    const double scale = 1 / std::sqrt(static_cast<double>(q.size(-1)));
    at::Tensor weights = masked_softmax(at::matmul(q * scale, k.transpose(-1, -2)), visible);
    if (field.fading.defined()) weights = weights * field.fading.unsqueeze(1);
    joined = kernels::attention_with_weights(weights, v);
    if (maps != Maps::none) result.weights = maps == Maps::mean ? weights.mean(1, true) : weights;
  } else {
    const kernels::AttentionOptions options{.mask = visible};
    const kernels::Attended attended = kernels::attention(q, k, v, options);
    joined = attended.out;
    if (maps != Maps::none) {
      result.weights =
          kernels::attention_map(q, k, attended.lse, options, {.head_mean = maps == Maps::mean});
    }
  }
  result.context = kernels::linear(joined, output);
  return result;
}

}  // namespace vitascope::caption
