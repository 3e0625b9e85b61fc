#pragma once

#include "kernels/attention_problem.h"
#include "kernels/cuda/dispatch.cuh"
#include "kernels/cuda/plan.cuh"
#include "kernels/cuda/score.cuh"
#include "kernels/cuda/tile.cuh"

/// \file
/// What the forward kernels by tensor cores have in common: a warp with 16 queries in registers,
/// its scores, its softmax (online: Milakov and Gimelshein, arXiv:1805.02867) and its products.
namespace vitascope::kernels::cuda {

/// A warp's 16 queries as fragments of A.
template <int kWidth>
using Query = std::uint32_t[kWidth / 16][4];

/// A warp's scores of 16 queries and 16 kSteps keys, then its weights: two fragments of C a step.
template <int kSteps>
using Scores = float[kSteps][2][4];

/// What a warp knows of its 16 queries; a lane of two: rows lane / 4 and lane / 4 + 8.
template <int kWidth>
struct Softmax {
  float out[kWidth / 8][4] = {};  ///< unnormalised, as the fragments of C
  float maximum[2] = {VITASCOPE_MINUS_INFINITY, VITASCOPE_MINUS_INFINITY};  ///< in units of scores
  float sum[2] = {};  ///< this lane's part of the sum of exponentials, relative to the maximum

  /// What scores are relative to. Where nothing has been seen yet, -inf - 0 is still -inf, and
  /// -inf - -inf would be NaN.
  __device__ __forceinline__ float base(int r) const {
    return maximum[r] == VITASCOPE_MINUS_INFINITY ? 0 : maximum[r];
  }

  /// Makes the sums of a row relative to a maximum that is at least `score`.
  __device__ __forceinline__ void raise(int r, float score, float unit) {
    const float before = maximum[r];
    maximum[r] = fmaxf(before, score);
    const float correction = exp2_approx((before - base(r)) * unit);
    sum[r] *= correction;
#pragma unroll
    for (int n = 0; n < kWidth / 8; ++n) {
      out[n][2 * r] *= correction;
      out[n][2 * r + 1] *= correction;
    }
  }
};

/// Whether the first key of a plain problem is done by itself. With a class token before 64 k
/// patches it would open a step of 16 keys, and a tile of 64, of its own.
VITASCOPE_HOST_DEVICE bool is_peeled(std::int64_t keys) { return keys % 64 == 1; }

/// Adds one key and its value without tensor cores. A lane multiplies and adds D / 2 elements of
/// its two queries and k, and as many of their sums and v, in float32. The step of 16 keys that
/// this saves has D / 4 mma.sync, 8 exponentials a lane, and, where it opens a tile, the tile's
/// fetching. \param key, value one row of k and of v in shared memory \param unit       as for
/// exponentiate
template <int kWidth, class T>
__device__ __forceinline__ void add_key(const Query<kWidth>& query, const T* key, const T* value,
                                        float unit, Softmax<kWidth>& softmax) {
  const int column = static_cast<int>(threadIdx.x) % 4 * 2;
  float products[2] = {};
#pragma unroll
  for (int n = 0; n < kWidth / 8; ++n) {
    const float low = to_float(key[8 * n + column]), high = to_float(key[8 * n + column + 1]);
#pragma unroll
    for (int r = 0; r < 2; ++r) {
      const std::uint32_t pair = query[n / 2][r + n % 2 * 2];
      products[r] += element_of<T>(pair, 0) * low + element_of<T>(pair, 1) * high;
    }
  }
#pragma unroll
  for (int r = 0; r < 2; ++r) {
    products[r] += __shfl_xor_sync(~0u, products[r], 1);
    products[r] += __shfl_xor_sync(~0u, products[r], 2);
    softmax.raise(r, products[r], unit);
    const float weight = exp2_approx((products[r] - softmax.base(r)) * unit);
    if (column == 0) softmax.sum[r] += weight;
#pragma unroll
    for (int n = 0; n < kWidth / 8; ++n) {
#pragma unroll
      for (int c = 0; c < 2; ++c) {
        float& out = softmax.out[n][2 * r + c];
        out += weight * to_float(value[8 * n + column + c]);
      }
    }
  }
}

/// q k^T for the first `count` keys of `keys`, at most 16 kSteps; -inf for the others, before the
/// maximum: a score of 0 of a key that is not there would be one.
/// \tparam kSure steps that are done whatever the count is
template <int kWidth, int kSteps, int kSure, class T>
__device__ __forceinline__ void multiply_keys(Scores<kSteps>& scores, const Query<kWidth>& query,
                                              const T* keys, int count) {
  const int column = static_cast<int>(threadIdx.x) % 4 * 2;
#pragma unroll
  for (int j = 0; j < kSteps; ++j) {
    const bool left_out = j >= kSure && 16 * j >= count;
#pragma unroll
    for (int c = 0; c < 8; ++c) scores[j][c / 4][c % 4] = left_out ? VITASCOPE_MINUS_INFINITY : 0;
    if (left_out) continue;
#pragma unroll
    for (int k = 0; k < kWidth / 16; ++k) {
      std::uint32_t b[4];
      load_b<kWidth>(b, keys, 16 * j, 16 * k);
      mma_16x8x16<T>(scores[j][0], query[k], b[0], b[1]);
      mma_16x8x16<T>(scores[j][1], query[k], b[2], b[3]);
    }
    if (j + 1 < kSure || count - 16 * j >= 16) continue;
#pragma unroll
    for (int c = 0; c < 8; ++c) {
      if (16 * j + c / 4 * 8 + column + c % 2 >= count) {
        scores[j][c / 4][c % 4] = VITASCOPE_MINUS_INFINITY;
      }
    }
  }
}

/// Turns scores into exponentials relative to the running maximum, and the sums with them.
/// \param unit log2(e) times what a score still has to be multiplied by
template <int kWidth, int kSteps, int kSure>
__device__ __forceinline__ void exponentiate(Scores<kSteps>& scores, int count,
                                             Softmax<kWidth>& softmax, float unit) {
#pragma unroll
  for (int r = 0; r < 2; ++r) {
    float maximum = softmax.maximum[r];
#pragma unroll
    for (int n = 0; n < 2 * kSteps; ++n) {
      const float(&pair)[4] = scores[n / 2][n % 2];
      maximum = fmaxf(maximum, fmaxf(pair[2 * r], pair[2 * r + 1]));
    }
    maximum = fmaxf(maximum, __shfl_xor_sync(~0u, maximum, 1));
    maximum = fmaxf(maximum, __shfl_xor_sync(~0u, maximum, 2));
    softmax.raise(r, maximum, unit);
    const float base = softmax.base(r);
    float sum = 0;
#pragma unroll
    for (int n = 0; n < 2 * kSteps; ++n) {
      if (n / 2 >= kSure && n / 2 * 16 >= count) continue;
#pragma unroll
      for (int c = 2 * r; c < 2 * r + 2; ++c) {
        // The difference first. With one fused operation, score * unit - maximum * unit, the
        // largest weight is no longer 1 at scores of 1e5, and 1 is what float16 rounds without
        // loss.
        float& score = scores[n / 2][n % 2][c];
        score = exp2_approx((score - base) * unit);
        sum += score;
      }
    }
    softmax.sum[r] += sum;
  }
}

/// out += exponentials (rounded to T) v.
template <bool kGuarded, int kWidth, int kSteps, int kSure, class T>
__device__ __forceinline__ void multiply_values(const Scores<kSteps>& weights, const T* values,
                                                int count, Softmax<kWidth>& softmax) {
#pragma unroll
  for (int j = 0; j < kSteps; ++j) {
    if (j >= kSure && 16 * j >= count) continue;
    const float(&left)[4] = weights[j][0], (&right)[4] = weights[j][1];
    const std::uint32_t a[4] = {pack<T>(left[0], left[1]), pack<T>(left[2], left[3]),
                                pack<T>(right[0], right[1]), pack<T>(right[2], right[3])};
#pragma unroll
    for (int n = 0; n < kWidth / 16; ++n) {
      std::uint32_t b[4];
      load_b_trans<kWidth>(b, values, 16 * j, 16 * n);
      multiply<kGuarded, T>(softmax.out[2 * n], a, b[0], b[1]);
      multiply<kGuarded, T>(softmax.out[2 * n + 1], a, b[2], b[3]);
    }
  }
}

/// Writes out and lse of a warp's queries.
template <bool kGeneral, class T, int kWidth>
__device__ __forceinline__ void finish(const ForwardProblem& problem, const Place& place,
                                       const Layout& layout, const Softmax<kWidth>& softmax) {
  const int lane = static_cast<int>(threadIdx.x) % 32;
#pragma unroll
  for (int r = 0; r < 2; ++r) {
    float sum = softmax.sum[r];
    sum += __shfl_xor_sync(~0u, sum, 1);
    sum += __shfl_xor_sync(~0u, sum, 2);
    const std::int64_t query = place.row + lane / 4 + 8 * r;
    if (query >= problem.queries) continue;
    if (lane % 4 == 0) {
      const float scale = kGeneral ? 1 : problem.scale;
      problem.lse[(place.batch * problem.heads + place.head) * problem.queries + query] =
          sum == 0 ? VITASCOPE_MINUS_INFINITY : softmax.maximum[r] * scale + logf(sum);
    }
    const float factor = kGeneral ? problem.dropout.kept_factor() : 1;
    const float inverse = sum == 0 ? 0 : factor / sum;
    T* out =
        static_cast<T*>(problem.out) + problem.out_strides.offset(place.batch, place.head, query);
    store_row(out, softmax.out, r, inverse, static_cast<int>(problem.width), layout.pairs);
  }
}

/// Rows of one (batch, head) of q, k or v.
template <class T>
__device__ __forceinline__ Rows<T> rows_of(const ForwardProblem& problem, const Place& place,
                                           const Layout& layout, const void* first,
                                           const Strides& strides) {
  return {static_cast<const T*>(first) + strides.offset(place.batch, place.head, 0), strides.row,
          static_cast<int>(problem.width), layout.packets};
}

/// How rows of a problem's tensors lie.
inline Layout layout_of(const ForwardProblem& problem) {
  return {rows_in_packets(problem.q, problem.q_strides) &&
              rows_in_packets(problem.k, problem.k_strides) &&
              rows_in_packets(problem.v, problem.v_strides),
          rows_in_pairs(problem.out, problem.out_strides)};
}

}  // namespace vitascope::kernels::cuda
