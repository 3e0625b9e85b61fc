#pragma once

#include "kernels/attention_problem.h"
#include "kernels/cuda/ptx.cuh"

/// \file
/// From a product q k to a score: scale, bias, and what is hidden.
namespace vitascope::kernels::cuda {

inline constexpr float kLog2e = 1.4426950408889634f;
inline constexpr float kLn2 = 0.6931471805599453f;
#define VITASCOPE_MINUS_INFINITY (-__builtin_huge_valf())

/// One (batch, head), and the first row of a block's tile.
struct Place {
  std::int64_t batch, head, row;
};

/// The tile of block `block` when each (batch, head) has ceil(rows / tile) of them.
__device__ __forceinline__ Place place_of(const AttentionProblem& problem, std::int64_t block,
                                          std::int64_t rows, int tile) {
  const std::int64_t tiles = (rows + tile - 1) / tile, plane = block / tiles;
  return {plane / problem.heads, plane % problem.heads, block % tiles * tile};
}

/// Queries outside of which keys [first, last] are seen by none.
__device__ __forceinline__ Range queries_of(const AttentionProblem& problem, std::int64_t batch,
                                            std::int64_t first, std::int64_t last) {
  const Visibility& visible = problem.visible;
  Range range{0, problem.queries};
  if (visible.causal) range.begin = first;
  if (visible.window >= 0) {
    if (visible.window < problem.queries && last + visible.window + 1 < range.end) {
      range.end = last + visible.window + 1;
    }
    if (first - visible.window > range.begin) range.begin = first - visible.window;
  }
  if (visible.key_lengths != nullptr && first >= visible.key_lengths[batch]) range.end = 0;
  return range;
}

/// Whether a query sees a key, both possibly behind the last.
__device__ __forceinline__ bool sees(const AttentionProblem& problem, const Place& place,
                                     std::int64_t query, std::int64_t key) {
  return query < problem.queries && key < problem.keys &&
         problem.visible.sees(place.batch, place.head, query, key);
}

/// scale * product + bias of a query that sees the key, whatever the product is; else -inf.
__device__ __forceinline__ float score_of(const AttentionProblem& problem, const Place& place,
                                          std::int64_t query, std::int64_t key, float product,
                                          bool seen) {
  if (!seen) return VITASCOPE_MINUS_INFINITY;
  if (problem.bias == nullptr) return product * problem.scale;
  const float bias = problem.bias[problem.bias_strides.offset(place.batch, place.head, query) +
                                  key * problem.bias_key_stride];
  return bias == VITASCOPE_MINUS_INFINITY ? bias : product * problem.scale + bias;
}

/// Whether dropout keeps a probability.
__device__ __forceinline__ bool keeps(const AttentionProblem& problem, const Place& place,
                                      std::int64_t query, std::int64_t key) {
  return problem.dropout.keeps(place.batch * problem.heads + place.head, query, key);
}

/// Whether scores are products times a positive scale and nothing else, so that the maximum may be
/// taken before the scale.
inline bool is_plain(const AttentionProblem& problem) {
  return !problem.visible.restricts() && problem.bias == nullptr &&
         problem.dropout.probability == 0 && problem.scale > 0 &&
         problem.scale < __builtin_huge_valf();
}

}  // namespace vitascope::kernels::cuda
