#include "vit/caption/alignment/additive.h"

#include <ATen/ATen.h>

namespace vitascope::caption {

void Additive::list(const AlignmentConfig& config, const std::string& prefix, Slots& slots) {
  slots.push_back({prefix + "W_f", &annotation.weight, {config.width, config.annotation_width}});
  slots.push_back({prefix + "W_h", &query.weight, {config.width, config.query_width}});
  slots.push_back({prefix + "b", &annotation.bias, {config.width}});
  slots.push_back({prefix + "v", &v, {config.width}});
}

at::Tensor Additive::keys(const at::Tensor& values) const {
  return kernels::linear(values, annotation);
}

at::Tensor Additive::scores(const at::Tensor& queries, const at::Tensor& keys) const {
  return tanh_scores(kernels::linear(queries, query), keys, v);
}

at::Tensor tanh_scores(const at::Tensor& queries, const at::Tensor& keys, const at::Tensor& v) {
  const at::Tensor sums = queries.unsqueeze(2) + keys.unsqueeze(1);  // [B, Q, L, A]
  return at::matmul(sums.tanh_(), v);
}

}  // namespace vitascope::caption
