#include "vit/caption/alignment/concat.h"

#include <ATen/ATen.h>

#include "kernels/additive_scores.h"

namespace vitascope::caption {

void Concat::list(const AlignmentConfig& config, const std::string& prefix, Slots& slots) {
  slots.push_back(
      {prefix + "W_a", &weight, {config.width, config.query_width + config.annotation_width}});
  slots.push_back({prefix + "v_a", &v, {config.width}});
}

at::Tensor Concat::keys(const at::Tensor& values) const {
  const std::int64_t annotation = values.size(-1);
  return at::linear(values, weight.narrow(1, weight.size(1) - annotation, annotation));
}

at::Tensor Concat::scores(const at::Tensor& queries, const at::Tensor& keys) const {
  return kernels::additive_scores(at::linear(queries, weight.narrow(1, 0, queries.size(-1))), keys,
                                  v);
}

}  // namespace vitascope::caption
