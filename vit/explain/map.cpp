#include "vit/explain/map.h"

namespace vitascope::explain {

at::Tensor min_max(const at::Tensor& values) {
  const at::Tensor low = values.min();
  const at::Tensor range = values.max() - low;
  return range.item<double>() > 0 ? (values - low) / range : at::zeros_like(values);
}

}  // namespace vitascope::explain
