#pragma once

#include "kernels/attention_problem.h"
#include "kernels/cuda/ptx.cuh"

/// \file
/// Tiles of q, k, v and dout in shared memory, and how a warp reads its fragments from them.
namespace vitascope::kernels::cuda {

/// Elements from one row of a tile to the next. 8 more than the width, which is a multiple of 16:
/// the rows of an 8 x 8 matrix then begin in different banks, so that ldmatrix has no conflicts.
template <int kWidth>
inline constexpr int kRowStride = kWidth + 8;

/// Rows of [N, D] as a kernel reads them.
template <class T>
struct Rows {
  const T* first;       ///< row 0
  std::int64_t stride;  ///< elements from row to row
  int width;            ///< D
  bool packets;         ///< rows begin at multiples of 16 bytes
};

/// Brings rows [begin, begin + rows) of `from` into `tile` [rows][kWidth + 8] by so many threads;
/// rows from `end` on and columns from D on become 0. With packets the copy is under way only
/// (copy_async_commit).
template <int kWidth, class T>
__device__ __forceinline__ void load_rows(T* tile, const Rows<T>& from, std::int64_t begin,
                                          std::int64_t end, int rows, int threads) {
  constexpr int kPackets = kWidth / 8;
  for (int i = static_cast<int>(threadIdx.x); i < rows * kPackets; i += threads) {
    const int row = i / kPackets, column = i % kPackets * 8;
    T* to = tile + row * kRowStride<kWidth> + column;
    const bool inside = begin + row < end && column < from.width;
    const T* source = from.first + (inside ? (begin + row) * from.stride + column : 0);
    if (from.packets) {
      copy_async(to, source, !inside);
    } else {
      for (int e = 0; e < 8; ++e) to[e] = inside && column + e < from.width ? source[e] : T{};
    }
  }
}

/// The same for numbers of rows and threads that the compiler knows.
template <int kWidth, int kRows, int kThreads, class T>
__device__ __forceinline__ void load_tile(T* tile, const Rows<T>& from, std::int64_t begin,
                                          std::int64_t end) {
  load_rows<kWidth>(tile, from, begin, end, kRows, kThreads);
}

/// Two neighbours of a row in global memory, the first in the low half.
template <class T>
__device__ __forceinline__ std::uint32_t load_pair(const T* first, bool packets) {
  if (packets) return load_word(first);
  return first[0].bits | static_cast<std::uint32_t>(first[1].bits) << 16;
}

/// Fragment of A, 16 x 16: rows `row`.. and columns `column`.. of the tile.
template <int kWidth, class T>
__device__ __forceinline__ void load_a(std::uint32_t (&a)[4], const T* tile, int row, int column) {
  const int lane = static_cast<int>(threadIdx.x) % 32;
  ldmatrix_x4(a, tile + (row + lane % 16) * kRowStride<kWidth> + column + lane / 16 * 8);
}

/// The same of the tile's transpose: rows of A are the tile's columns from `row` on, its columns
/// the tile's rows from `column` on.
template <int kWidth, class T>
__device__ __forceinline__ void load_a_trans(std::uint32_t (&a)[4], const T* tile, int column,
                                             int row) {
  const int lane = static_cast<int>(threadIdx.x) % 32;
  ldmatrix_x4_trans(
      a, tile + (column + lane / 16 * 8 + lane % 8) * kRowStride<kWidth> + row + lane / 8 % 2 * 8);
}

/// Fragments of B for 16 columns of the product that are rows `row`.. of the tile, and 16 steps of
/// the sum that are its columns `column`..: b[0], b[1] serve the first 8, b[2], b[3] the others.
template <int kWidth, class T>
__device__ __forceinline__ void load_b(std::uint32_t (&b)[4], const T* tile, int row, int column) {
  const int lane = static_cast<int>(threadIdx.x) % 32;
  ldmatrix_x4(
      b, tile + (row + lane / 16 * 8 + lane % 8) * kRowStride<kWidth> + column + lane / 8 % 2 * 8);
}

/// The same where the tile's rows `row`.. are the steps of the sum and its columns the product's.
template <int kWidth, class T>
__device__ __forceinline__ void load_b_trans(std::uint32_t (&b)[4], const T* tile, int row,
                                             int column) {
  const int lane = static_cast<int>(threadIdx.x) % 32;
  ldmatrix_x4_trans(b, tile + (row + lane % 16) * kRowStride<kWidth> + column + lane / 16 * 8);
}

/// Writes one of the two rows that a lane has in fragments of C, times `factor`.
/// \param r     0: the lane's upper row, 1: its lower
/// \param row   where that row begins in global memory
/// \param pairs whether rows begin at multiples of two elements
template <int kTiles, class T>
__device__ __forceinline__ void store_row(T* row, const float (&fragments)[kTiles][4], int r,
                                          float factor, int width, bool pairs) {
  T* to = row + threadIdx.x % 4 * 2;
#pragma unroll
  for (int n = 0; n < kTiles; ++n) {
    if (8 * n >= width) continue;
    const std::uint32_t pair =
        pack<T>(fragments[n][2 * r] * factor, fragments[n][2 * r + 1] * factor);
    if (pairs) {
      store_word(to + 8 * n, pair);
    } else {
      to[8 * n] = T{static_cast<std::uint16_t>(pair)};
      to[8 * n + 1] = T{static_cast<std::uint16_t>(pair >> 16)};
    }
  }
}

/// Whether a pair of elements holds NaN or infinity.
template <class T>
__device__ __forceinline__ bool has_nonfinite(std::uint32_t pair) {
  constexpr std::uint32_t low = kExponents<T> & 0xFFFF, high = kExponents<T> & 0xFFFF0000;
  return (pair & low) == low || (pair & high) == high;
}

/// Element `half` of a pair, as float.
template <class T>
__device__ __forceinline__ float element_of(std::uint32_t pair, int half) {
  return to_float(T{static_cast<std::uint16_t>(pair >> (16 * half))});
}

/// Fragments by value, so that they stay in registers across a call.
struct Sums {
  float values[4];
};
struct Factors {
  std::uint32_t a[4], b[2];
};

/// d + a b where an `a` of 0 takes nothing from its b, be that NaN or infinity: what a query does
/// not see cannot reach it. Rare, hence element by element, and a function of its own.
template <class T>
[[gnu::noinline]] __device__ Sums multiply_by_element(Sums d, Factors factors) {
  const int lane = static_cast<int>(threadIdx.x) % 32;
#pragma unroll 1
  for (int k = 0; k < 16; ++k) {
    const int quad = k % 8 / 2, half = k % 2;
    const int from_a = lane / 4 * 4 + quad;
    const bool early = k < 8;
    const std::uint32_t upper = __shfl_sync(~0u, early ? factors.a[0] : factors.a[2], from_a);
    const std::uint32_t lower = __shfl_sync(~0u, early ? factors.a[1] : factors.a[3], from_a);
#pragma unroll
    for (int n = 0; n < 2; ++n) {
      const int from_b = (lane % 4 * 2 + n) * 4 + quad;
      const std::uint32_t pair = __shfl_sync(~0u, early ? factors.b[0] : factors.b[1], from_b);
      const float b = element_of<T>(pair, half);
      const float above = element_of<T>(upper, half), below = element_of<T>(lower, half);
      if (above != 0) d.values[n] += above * b;
      if (below != 0) d.values[2 + n] += below * b;
    }
  }
  return d;
}

/// d += a b; kGuarded: where b may hold NaN that `a` hides by a weight of 0.
template <bool kGuarded, class T>
__device__ __forceinline__ void multiply(float (&d)[4], const std::uint32_t (&a)[4],
                                         std::uint32_t b0, std::uint32_t b1) {
  if (kGuarded && __any_sync(~0u, has_nonfinite<T>(b0) || has_nonfinite<T>(b1))) {
    const Sums sums =
        multiply_by_element<T>({{d[0], d[1], d[2], d[3]}}, {{a[0], a[1], a[2], a[3]}, {b0, b1}});
#pragma unroll
    for (int c = 0; c < 4; ++c) d[c] = sums.values[c];
  } else {
    mma_16x8x16<T>(d, a, b0, b1);
  }
}

}  // namespace vitascope::kernels::cuda
