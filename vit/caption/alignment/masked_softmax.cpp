#include "vit/caption/alignment/masked_softmax.h"

#include <ATen/ATen.h>

#include <limits>

namespace vitascope::caption {

at::Tensor masked_softmax(const at::Tensor& scores, const at::Tensor& visible) {
  if (!visible.defined()) return scores.softmax(-1);
  const at::Tensor hidden = visible.logical_not();
  // A row of minus infinities alone would give NaN, also in the gradient.
  const at::Tensor excluded = hidden.logical_and(visible.any(-1, true));
  return scores.masked_fill(excluded, -std::numeric_limits<double>::infinity())
      .softmax(-1)
      .masked_fill(hidden, 0);
}

}  // namespace vitascope::caption
