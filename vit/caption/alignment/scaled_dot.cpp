#include "vit/caption/alignment/scaled_dot.h"

#include <ATen/ATen.h>

#include <cmath>

namespace vitascope::caption {

void ScaledDot::list(const AlignmentConfig& config, const std::string& prefix, Slots& slots) {
  slots.push_back({prefix + "W_Q", &query.weight, {config.width, config.query_width}});
  slots.push_back({prefix + "W_K", &key.weight, {config.width, config.annotation_width}});
}

at::Tensor ScaledDot::keys(const at::Tensor& values) const {
  const auto width = static_cast<double>(key.weight.size(0));
  return kernels::linear(values, key) / std::sqrt(width);
}

at::Tensor ScaledDot::scores(const at::Tensor& queries, const at::Tensor& keys) const {
  return at::bmm(kernels::linear(queries, query), keys.transpose(1, 2));
}

}  // namespace vitascope::caption
