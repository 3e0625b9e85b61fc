#pragma once

#include "kernels/cuda/ptx.cuh"
#include "kernels/cuda/score.cuh"

/// \file
/// Products without tensor cores, for float32 and for maps: 16 rows, kept in shared memory as
/// float32, against 128 rows, one a thread. Elements of any type and rows of any alignment.
namespace vitascope::kernels::cuda {

inline constexpr int kHeldRows = 16, kScalarThreads = 128;
/// Floats from one column of the held rows to the next in shared memory: packets of the 8 threads
/// that are served together fall into different banks.
inline constexpr int kHeldStride = kHeldRows + 4;

/// Writes the held rows into shared memory as [D][kHeldStride].
/// \param row_of the held row r in global memory, or nullptr for zeros
template <class T, class RowOf>
__device__ __forceinline__ void hold_rows(float* held, int width, const RowOf& row_of) {
  for (int i = static_cast<int>(threadIdx.x); i < kHeldRows * width; i += kScalarThreads) {
    const int r = i / width, d = i % width;
    const T* row = row_of(r);
    held[d * kHeldStride + r] = row == nullptr ? 0 : to_float(row[d]);
  }
}

/// products[r] += factor * column[r] of a column of 16 floats in shared memory.
__device__ __forceinline__ void add_column(float (&products)[kHeldRows], const float* column,
                                           float factor) {
#pragma unroll
  for (int r = 0; r < kHeldRows; ++r) products[r] += factor * column[r];
}

/// products[r] = held row r times `row`, both of `width` elements.
template <class T>
__device__ __forceinline__ void multiply_held(float (&products)[kHeldRows], const float* held,
                                              const T* row, int width) {
#pragma unroll
  for (int r = 0; r < kHeldRows; ++r) products[r] = 0;
#pragma unroll 4
  for (int d = 0; d < width; ++d) add_column(products, held + d * kHeldStride, to_float(row[d]));
}

/// sums[r] += weights[j][r] * rows[j][column] over `count` rows. A weight of 0 takes nothing, be
/// the element NaN or infinity: what a query does not see cannot reach it.
/// \param weights shared memory [count][kHeldStride]
template <class T>
__device__ __forceinline__ void add_weighted(float (&sums)[kHeldRows], const float* weights,
                                             const T* column, std::int64_t stride, int count) {
#pragma unroll 2
  for (int j = 0; j < count; ++j) {
    const float value = to_float(column[j * stride]);
    const float* weight = weights + j * kHeldStride;
    if (fabsf(value) < __builtin_huge_valf()) {
      add_column(sums, weight, value);
      continue;
    }
#pragma unroll
    for (int r = 0; r < kHeldRows; ++r) {
      if (weight[r] != 0) sums[r] += weight[r] * value;
    }
  }
}

/// Bit r: whether `holds(r)`, r = 0 .. 15. A loop, since what it calls is long.
template <class Holds>
__device__ __forceinline__ unsigned held_bits(const Holds& holds) {
  unsigned bits = 0;
#pragma unroll 1
  for (int r = 0; r < kHeldRows; ++r) bits |= static_cast<unsigned>(holds(r)) << r;
  return bits;
}

/// The row i of [B, H, N, D], or nullptr behind the last.
template <class T>
__device__ __forceinline__ const T* row_of(const void* first, const Strides& strides,
                                           const Place& place, std::int64_t i, std::int64_t rows) {
  if (i >= rows) return nullptr;
  return static_cast<const T*>(first) + strides.offset(place.batch, place.head, i);
}

}  // namespace vitascope::kernels::cuda
