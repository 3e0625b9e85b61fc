#include "vit/caption/alignment/gate.h"

#include <ATen/ATen.h>

namespace vitascope::caption {

void Gate::list(std::int64_t query_width, const std::string& prefix, Slots& slots) {
  slots.push_back({prefix + "w", &weight, {query_width}});
  slots.push_back({prefix + "b", &bias, {1}});
}

at::Tensor Gate::beta(const at::Tensor& queries) const {
  return (at::matmul(queries, weight).unsqueeze(-1) + bias).sigmoid();
}

}  // namespace vitascope::caption
