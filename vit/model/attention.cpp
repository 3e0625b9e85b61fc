#include "vit/model/attention.h"

#include <ATen/TensorIndexing.h>
#include <ATen/core/grad_mode.h>
#include <fmt/format.h>

#include <stdexcept>

namespace vitascope::model {
namespace {

/// int64 [n]; all of 0 .. count - 1 where none are chosen.
at::Tensor chosen(const std::vector<std::int64_t>& numbers, std::int64_t count, const char* what,
                  const at::Tensor& like) {
  for (const std::int64_t number : numbers) {
    if (number < 0 || number >= count) {
      throw std::invalid_argument(fmt::format("intervention: there is no {} {}: expected 0 to {}",
                                              what, number, count - 1));
    }
  }
  const auto options = like.options().dtype(at::kLong);
  return numbers.empty() ? at::arange(count, options)
                         : at::tensor(numbers, at::kLong).to(options.device());
}

/// out [B, N, H * D] with what the intervention's weights make of v [B, H, N, D] in its place.
at::Tensor intervene(const at::Tensor& out, const at::Tensor& v, const Intervention& wanted) {
  const at::Tensor heads = chosen(wanted.heads, v.size(1), "head", v);
  const at::Tensor rows = chosen(wanted.rows, v.size(2), "row", v);
  const std::vector<std::int64_t> shape{v.size(0), heads.size(0), rows.size(0), v.size(2)};
  const at::Tensor theirs =
      kernels::attention_with_weights(wanted.weights.expand(shape), v.index_select(1, heads));
  at::Tensor mixed = out.clone();
  mixed.unflatten(2, {v.size(1), v.size(3)})
      .index_put_({at::indexing::Slice(), rows.unsqueeze(1), heads},
                  theirs.unflatten(2, {heads.size(0), v.size(3)}));
  return mixed;
}

}  // namespace

at::Tensor graph_node(const at::Tensor& tensor) {
  return at::GradMode::is_enabled() && !tensor.requires_grad() ? tensor.detach().requires_grad_()
                                                               : tensor;
}

at::Tensor Attention::forward(const at::Tensor& x, const Config& config, int layer,
                              const ForwardOptions& options,
                              const kernels::Epilogue& epilogue) const {
  const std::int64_t batch = x.size(0);
  const std::int64_t tokens = x.size(1);
  // [B, N, 3 C] -> [3, B, H, N, D], a view: the kernels read the packed projection in place.
  const at::Tensor packed = kernels::linear(x, qkv)
                                .view({batch, tokens, 3, config.heads, config.head_width()})
                                .permute({2, 0, 3, 1, 4});
  const at::Tensor q = q_norm(packed[0]);
  const at::Tensor k = k_norm(packed[1]);
  const at::Tensor v = packed[2];
  auto [out, lse] = kernels::attention(q, k, v, {.backend = options.backend});
  for (const Intervention& wanted : options.interventions) {
    if (wanted.layer == layer) out = intervene(out, v, wanted);
  }
  if (Trace* trace = options.trace; trace != nullptr) {
    if (trace->want_queries_and_keys) {
      trace->queries.push_back(q);
      trace->keys.push_back(k);
      trace->lse.push_back(lse);
    }
    if (trace->want_values) trace->values.push_back(v);
    if (trace->want_attention_outputs) trace->attention_outputs.push_back(out = graph_node(out));
  }
  return kernels::linear(out, proj, epilogue);
}

}  // namespace vitascope::model
