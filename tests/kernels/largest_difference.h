#pragma once

#include <ATen/ATen.h>

namespace vitascope::tests {

/// max |a - b|, in float64.
inline double largest_difference(const at::Tensor& a, const at::Tensor& b) {
  return (a.to(at::kDouble) - b.to(at::kDouble)).abs().max().item<double>();
}

}  // namespace vitascope::tests
