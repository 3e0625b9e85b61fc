#include "vit/caption/alignment/general.h"

#include <ATen/ATen.h>

#include "kernels/linear.h"

namespace vitascope::caption {

void General::list(const AlignmentConfig& config, const std::string& prefix, Slots& slots) {
  slots.push_back({prefix + "W_a", &weight, {config.query_width, config.annotation_width}});
}

at::Tensor General::keys(const at::Tensor& values) const {
  return kernels::linear(values, {.weight = weight});
}

at::Tensor General::scores(const at::Tensor& queries, const at::Tensor& keys) const {
  return at::bmm(queries, keys.transpose(1, 2));
}

}  // namespace vitascope::caption
