#include "vit/caption/alignment/additive.h"

#include "kernels/additive_scores.h"
#include "kernels/thin_linear.h"

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
  return kernels::additive_scores(kernels::thin_linear(queries, query), keys, v);
}

}  // namespace vitascope::caption
