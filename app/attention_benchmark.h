#pragma once

#include <c10/core/ScalarType.h>

#include <string>
#include <vector>

/// \file
/// Times of attention kernels beside LibTorch's.
namespace vitascope::app {

/// Size of one self-attention.
struct AttentionSize {
  std::int64_t batch = 8, heads = 12, tokens = 197, width = 64;

  /// Operations of the products that the formula needs: two forward, five backward.
  double operations(bool backward) const {
    return (backward ? 10.0 : 4.0) * double(batch) * double(heads) * double(tokens) *
           double(tokens) * double(width);
  }
};

/// One backend in one direction, and the seconds of each repetition.
struct AttentionTimes {
  std::string backend;  ///< "fused", or what LibTorch calls its own: "sdpa flash", "sdpa math"
  bool backward = false;
  std::vector<double> seconds;
};

/// Runs every backend in turn, round after round, allocation of the results included. The fused
/// kernels read the packed projection [B, N, 3, H, D] and write [B, N, H * D]; LibTorch gets q, k
/// and v contiguous as [B, H, N, D], which suits it best.
std::vector<AttentionTimes> measure_attention(const AttentionSize& size, at::ScalarType precision,
                                              int warm_up, int repeat);

}  // namespace vitascope::app
