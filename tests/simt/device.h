#pragma once

#include <cmath>
#include <cstring>

#include "tests/simt/emulator.h"
#include "tests/simt/instructions.h"

/// \file
/// What nvcc knows without being told: CUDA C++'s keywords and built-in functions, for g++.

#define VITASCOPE_SIMT
// NOLINTBEGIN: CUDA's own names
#define __global__
#define __device__
#define __host__
#define __grid_constant__
#define __forceinline__ inline
#define __launch_bounds__(...)
#define threadIdx (::simt::thread_index())
#define blockIdx (::simt::block_index())
#define blockDim (::simt::block_size())
#define gridDim (::simt::grid_size())

inline void __syncthreads(const simt::Where& where = simt::Where::current()) {
  const auto& block = simt::block_size();
  simt::block_barrier(0, block.x * block.y * block.z, where);
}
inline void __syncwarp(unsigned mask = ~0u, const simt::Where& where = simt::Where::current()) {
  simt::require_whole_warp(mask, where);
  simt::warp_barrier(where);
}
template <class T>
T __shfl_sync(unsigned mask, T value, int lane, int width = 32,
              const simt::Where& where = simt::Where::current()) {
  return simt::shuffle(
      mask, value, [=](int self) { return (self & -width) | (lane & (width - 1)); }, where);
}
template <class T>
T __shfl_xor_sync(unsigned mask, T value, int lanes, int width = 32,
                  const simt::Where& where = simt::Where::current()) {
  return simt::shuffle(
      mask, value,
      [=](int self) {
        const int from = self ^ lanes;
        return from / width > self / width ? self : from;
      },
      where);
}
template <class T>
T __shfl_up_sync(unsigned mask, T value, int lanes, int width = 32,
                 const simt::Where& where = simt::Where::current()) {
  return simt::shuffle(
      mask, value, [=](int self) { return self - lanes < (self & -width) ? self : self - lanes; },
      where);
}
template <class T>
T __shfl_down_sync(unsigned mask, T value, int lanes, int width = 32,
                   const simt::Where& where = simt::Where::current()) {
  return simt::shuffle(
      mask, value,
      [=](int self) { return self + lanes >= (self & -width) + width ? self : self + lanes; },
      where);
}
inline bool __any_sync(unsigned mask, bool value,
                       const simt::Where& where = simt::Where::current()) {
  simt::require_whole_warp(mask, where);
  return simt::any_in_warp(value, where);
}

// Fibres give way only where they wait, so that a plain operation is atomic.
template <class T>
T atomicAdd(T* address, T value, const simt::Where& where = simt::Where::current()) {
  simt::check_memory(address, sizeof(T), where);
  const T before = *address;
  *address = before + value;
  return before;
}
template <class T>
T atomicMax(T* address, T value, const simt::Where& where = simt::Where::current()) {
  simt::check_memory(address, sizeof(T), where);
  const T before = *address;
  *address = before < value ? value : before;
  return before;
}
// NOLINTEND

#include "tests/simt/ptx.h"
