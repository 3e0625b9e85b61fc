#pragma once

#include <cstdint>
#include <vector>

#include "vit/image/filter.h"

/// \file
/// The weights of Pillow's resampling along one axis.
namespace vitascope::image {

/// Bits after the point of a weight: 32 less 8 for a pixel and 2 for overshoot.
inline constexpr int kWeightBits = 32 - 8 - 2;

/// Output i is the sum over k < count[i] of input[first[i] + k] * weight[i * stride + k].
struct Coefficients {
  std::vector<int> first;
  std::vector<int> count;
  std::vector<std::int32_t> weight;  ///< times 2^kWeightBits; 0 from count[i] to stride
  int stride = 0;                    ///< most taps of an output, rounded up to a multiple of 4
};

/// The weights of outputs [begin, end) when an axis of `from` pixels becomes one of `to`.
/// Any filter but `nearest`.
Coefficients resample_coefficients(int from, int to, int begin, int end, Filter filter);

}  // namespace vitascope::image
