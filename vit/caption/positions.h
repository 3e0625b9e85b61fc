#pragma once

#include <ATen/core/Tensor.h>

/// \file
/// Where a word stands in its sentence.
namespace vitascope::caption {

/// Positions of Vaswani et al. 2017, arXiv:1706.03762: sin(p w_i) and cos(p w_i) side by side, with
/// w_i = 10000^(-2 i / width).
struct Positions {
  std::int64_t first = 0, count = 0;
};

/// \return float32 [count, width]
at::Tensor sinusoidal_positions(const Positions& positions, std::int64_t width);

}  // namespace vitascope::caption
