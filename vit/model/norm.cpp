#include "vit/model/norm.h"

namespace vitascope::model {

at::Tensor LayerNorm::operator()(const at::Tensor& x) const {
  if (!weight.defined()) return x;
  return at::layer_norm(x, {x.size(-1)}, weight, bias, epsilon);
}

}  // namespace vitascope::model
