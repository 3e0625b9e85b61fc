#include "vit/caption/alignment/dot.h"

#include <ATen/ATen.h>

namespace vitascope::caption {

at::Tensor Dot::scores(const at::Tensor& queries, const at::Tensor& keys) const {
  return at::bmm(queries, keys.transpose(1, 2));
}

}  // namespace vitascope::caption
