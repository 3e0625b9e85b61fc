#include "kernels/attention_math.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/logsumexp.h>
#include <ATen/ops/matmul.h>
#include <ATen/ops/scaled_dot_product_attention.h>
#include <ATen/ops/softmax.h>
#include <ATen/ops/where.h>

#include <cmath>
#include <limits>

namespace vitascope::kernels {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

void restrict_to(at::Tensor& visible, const at::Tensor& more) {
  visible = visible.defined() ? visible & more : more;
}

/// bool, broadcast to [B, H, Nq, Nk]; undefined where all keys are visible.
at::Tensor visible_keys(const at::Tensor& q, const at::Tensor& k, const AttentionOptions& options) {
  const auto on_device = q.options().dtype(at::kLong);
  const at::Tensor query = at::arange(q.size(2), on_device).unsqueeze(1);
  const at::Tensor key = at::arange(k.size(2), on_device).unsqueeze(0);
  at::Tensor visible;
  if (options.causal) restrict_to(visible, (key <= query).view({1, 1, q.size(2), k.size(2)}));
  if (options.window) restrict_to(visible, (key - query).abs().le(*options.window).unsqueeze(0));
  if (options.grid) {
    const GridWindow& grid = *options.grid;
    const auto row = [&](const at::Tensor& i) {
      return (i - grid.prefix).div(grid.columns, "floor");
    };
    const auto column = [&](const at::Tensor& i) {
      return (i - grid.prefix).remainder(grid.columns);
    };
    restrict_to(visible, ((row(query) - row(key)).abs().le(grid.row_radius) &
                          (column(query) - column(key)).abs().le(grid.column_radius)) |
                             query.lt(grid.prefix) | key.lt(grid.prefix));
  }
  if (options.key_lengths.defined()) {
    restrict_to(visible, key.lt(options.key_lengths.view({-1, 1, 1, 1})));
  }
  if (options.mask.defined()) restrict_to(visible, options.mask);
  return visible;
}

/// Factors that dropout gives to probabilities.
at::Tensor dropout_factors(const at::Tensor& probabilities, const AttentionOptions& options) {
  const Dropout dropout{static_cast<float>(options.dropout),
                        static_cast<std::uint64_t>(options.seed)};
  const at::Tensor factors = at::empty(probabilities.sizes(), at::kFloat);
  float* factor = factors.data_ptr<float>();
  const float kept = dropout.kept_factor();
  const std::int64_t heads = probabilities.size(0) * probabilities.size(1);
  for (std::int64_t head = 0; head < heads; ++head) {
    for (std::int64_t i = 0; i < probabilities.size(2); ++i) {
      for (std::int64_t j = 0; j < probabilities.size(3); ++j) {
        *factor++ = dropout.keeps(head, i, j) ? kept : 0;
      }
    }
  }
  return factors.to(probabilities.options());
}

}  // namespace

double scale_of(const at::Tensor& q, const AttentionOptions& options) {
  return options.scale.value_or(1 / std::sqrt(static_cast<double>(q.size(3))));
}

Attended attention_by_formula(const at::Tensor& q, const at::Tensor& k, const at::Tensor& v,
                              const AttentionOptions& options) {
  const at::ScalarType type = q.scalar_type() == at::kDouble ? at::kDouble : at::kFloat;
  at::Tensor scores = at::matmul(q.to(type) * scale_of(q, options), k.to(type).transpose(-2, -1));
  if (options.bias.defined()) scores = scores + options.bias.to(type);
  at::Tensor values = v.to(type);
  const at::Tensor visible = visible_keys(q, k, options);
  if (visible.defined()) {
    scores = at::where(visible, scores, -kInfinity);
    // What no query sees may be anything; 0 times it must be 0.
    const at::Tensor seen = visible.expand(scores.sizes()).any(2).unsqueeze(-1);
    values = at::where(seen, values, 0.0);
  }
  // A query without a visible key has nothing but -infinity, of which softmax makes NaN.
  const at::Tensor dead = scores.eq(-kInfinity).all(-1, /*keepdim=*/true);
  at::Tensor probabilities = at::softmax(scores.masked_fill(dead, 0), -1).masked_fill(dead, 0);
  if (options.dropout > 0) {
    probabilities = probabilities * dropout_factors(probabilities, options);
  }
  return {attention_with_weights(probabilities, values).to(v.scalar_type()),
          at::logsumexp(scores, -1).to(at::kFloat)};
}

Attended attention_by_sdpa(const at::Tensor& q, const at::Tensor& k, const at::Tensor& v,
                           const AttentionOptions& options) {
  std::optional<at::Tensor> mask;
  if (const at::Tensor visible = visible_keys(q, k, options); visible.defined()) mask = visible;
  if (options.bias.defined()) {
    const at::Tensor bias = options.bias.to(q.scalar_type());
    mask = mask ? at::where(*mask, bias, -kInfinity) : bias;
  }
  // [B, H, N, D] in memory order [B, N, H, D] makes the last step a view; SDPA on the CPU keeps it.
  const at::Tensor out = at::scaled_dot_product_attention(q, k, v, mask, /*dropout_p=*/0.0,
                                                          /*is_causal=*/false, options.scale);
  return {out.transpose(1, 2).reshape({q.size(0), q.size(2), q.size(1) * q.size(3)}), {}};
}

}  // namespace vitascope::kernels
