#pragma once

#include "kernels/cuda/element.cuh"

/// \file
/// The instructions of sm_80 that CUDA C++ has no words for, by the names of the PTX ISA. For
/// VITASCOPE_SIMT, which runs kernels on the CPU, tests/simt/ptx.h has the same functions.
#ifndef VITASCOPE_SIMT

namespace vitascope::kernels::cuda {

/// Dynamic shared memory of the block.
__device__ __forceinline__ unsigned char* shared_memory() {
  extern __shared__ __align__(1024) unsigned char memory[];
  return memory;
}
__device__ __forceinline__ std::uint32_t shared_address(const void* pointer) {
  return static_cast<std::uint32_t>(__cvta_generic_to_shared(pointer));
}

/// Exact.
__device__ __forceinline__ float to_float(BFloat16 x) {
  return __uint_as_float(static_cast<std::uint32_t>(x.bits) << 16);
}
/// Exact.
__device__ __forceinline__ float to_float(Float16 x) {
  float value;
  asm("cvt.f32.f16 %0, %1;" : "=f"(value) : "h"(x.bits));
  return value;
}
/// So that a kernel need not know its type.
__device__ __forceinline__ float to_float(float x) { return x; }

/// To nearest, ties to even.
template <class T>
__device__ __forceinline__ T from_float(float x);
template <>
__device__ __forceinline__ BFloat16 from_float<BFloat16>(float x) {
  BFloat16 value;
  asm("cvt.rn.bf16.f32 %0, %1;" : "=h"(value.bits) : "f"(x));
  return value;
}
template <>
__device__ __forceinline__ Float16 from_float<Float16>(float x) {
  Float16 value;
  asm("cvt.rn.f16.f32 %0, %1;" : "=h"(value.bits) : "f"(x));
  return value;
}
template <>
__device__ __forceinline__ float from_float<float>(float x) {
  return x;
}

/// Two elements in a register, the first in its low half.
template <class T>
__device__ __forceinline__ std::uint32_t pack(float low, float high);
template <>
__device__ __forceinline__ std::uint32_t pack<BFloat16>(float low, float high) {
  std::uint32_t pair;
  asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(pair) : "f"(high), "f"(low));
  return pair;
}
template <>
__device__ __forceinline__ std::uint32_t pack<Float16>(float low, float high) {
  std::uint32_t pair;
  asm("cvt.rn.f16x2.f32 %0, %1, %2;" : "=r"(pair) : "f"(high), "f"(low));
  return pair;
}

/// 2^x with a relative error of 2^-22; 0 for -inf.
__device__ __forceinline__ float exp2_approx(float x) {
  float value;
  asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(value) : "f"(x));
  return value;
}

/// d += a b by one warp: a 16 x 16, b 16 x 8 (mma.sync.aligned.m16n8k16.row.col).
template <class T>
__device__ __forceinline__ void mma_16x8x16(float (&d)[4], const std::uint32_t (&a)[4],
                                            std::uint32_t b0, std::uint32_t b1);
template <>
__device__ __forceinline__ void mma_16x8x16<BFloat16>(float (&d)[4], const std::uint32_t (&a)[4],
                                                      std::uint32_t b0, std::uint32_t b1) {
  asm("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 "
      "{%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
      : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
}
template <>
__device__ __forceinline__ void mma_16x8x16<Float16>(float (&d)[4], const std::uint32_t (&a)[4],
                                                     std::uint32_t b0, std::uint32_t b1) {
  asm("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 "
      "{%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
      : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
}

/// Four 8 x 8 matrices from shared memory; lane 8 m + r names row r of matrix m.
__device__ __forceinline__ void ldmatrix_x4(std::uint32_t (&matrices)[4], const void* row) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
               : "=r"(matrices[0]), "=r"(matrices[1]), "=r"(matrices[2]), "=r"(matrices[3])
               : "r"(shared_address(row)));
}
/// The same, each matrix transposed.
__device__ __forceinline__ void ldmatrix_x4_trans(std::uint32_t (&matrices)[4], const void* row) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];"
               : "=r"(matrices[0]), "=r"(matrices[1]), "=r"(matrices[2]), "=r"(matrices[3])
               : "r"(shared_address(row)));
}

/// Begins to copy 16 bytes from global to shared memory, or zeros, without touching `from`.
__device__ __forceinline__ void copy_async(void* to, const void* from, bool zero) {
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(shared_address(to)),
               "l"(__cvta_generic_to_global(from)), "r"(zero ? 0 : 16)
               : "memory");
}
/// Closes the group of the copies that this thread has begun.
__device__ __forceinline__ void copy_async_commit() {
  asm volatile("cp.async.commit_group;" ::: "memory");
}
/// Waits until at most so many groups of this thread are under way.
template <int kGroupsLeft>
__device__ __forceinline__ void copy_async_wait() {
  asm volatile("cp.async.wait_group %0;" ::"n"(kGroupsLeft) : "memory");
}
/// Barrier `id` (1 to 15) of `threads` threads of the block.
__device__ __forceinline__ void named_barrier(unsigned id, unsigned threads) {
  asm volatile("barrier.sync.aligned %0, %1;" ::"r"(id), "r"(threads) : "memory");
}

/// Aligned to its size.
__device__ __forceinline__ Packet load_packet(const void* global) {
  return *static_cast<const Packet*>(global);
}
__device__ __forceinline__ std::uint32_t load_word(const void* global) {
  return *static_cast<const std::uint32_t*>(global);
}
__device__ __forceinline__ void store_word(void* global, std::uint32_t word) {
  *static_cast<std::uint32_t*>(global) = word;
}

}  // namespace vitascope::kernels::cuda

#endif
