#pragma once

#include <cmath>
#include <cstring>

#include "kernels/cuda/element.cuh"
#include "tests/simt/instructions.h"

/// \file
/// What kernels/cuda/ptx.cuh offers, for the emulator.
namespace vitascope::kernels::cuda {

inline unsigned char* shared_memory() { return simt::shared_memory(); }

inline float to_float(BFloat16 x) { return simt::from_bf16(x.bits); }
inline float to_float(Float16 x) { return simt::from_f16(x.bits); }
inline float to_float(float x) { return x; }
template <class T>
T from_float(float x);
template <>
inline BFloat16 from_float<BFloat16>(float x) {
  return {simt::to_bf16(x)};
}
template <>
inline Float16 from_float<Float16>(float x) {
  return {simt::to_f16(x)};
}
template <>
inline float from_float<float>(float x) {
  return x;
}
template <class T>
std::uint32_t pack(float low, float high) {
  const std::uint32_t bits = from_float<T>(high).bits;
  return bits << 16 | from_float<T>(low).bits;
}
inline float exp2_approx(float x) { return std::exp2(x); }

template <class T>
void mma_16x8x16(float (&d)[4], const std::uint32_t (&a)[4], std::uint32_t b0, std::uint32_t b1,
                 const simt::Where& where = simt::Where::current()) {
  constexpr auto element =
      kExponents<T> == kExponents<BFloat16> ? simt::MatrixElement::bf16 : simt::MatrixElement::f16;
  simt::mma_16x8x16(element, d, a, b0, b1, where);
}
inline void ldmatrix_x4(std::uint32_t (&matrices)[4], const void* row,
                        const simt::Where& where = simt::Where::current()) {
  simt::ldmatrix_x4(matrices, row, false, where);
}
inline void ldmatrix_x4_trans(std::uint32_t (&matrices)[4], const void* row,
                              const simt::Where& where = simt::Where::current()) {
  simt::ldmatrix_x4(matrices, row, true, where);
}
inline void copy_async(void* to, const void* from, bool zero,
                       const simt::Where& where = simt::Where::current()) {
  simt::copy_async(to, from, zero, where);
}
inline void copy_async_commit() { simt::commit_copies(); }
template <int kGroupsLeft>
void copy_async_wait() {
  simt::wait_for_copies(kGroupsLeft);
}
inline void named_barrier(unsigned id, unsigned threads,
                          const simt::Where& where = simt::Where::current()) {
  simt::block_barrier(id, threads, where);
}
inline Packet load_packet(const void* global, const simt::Where& where = simt::Where::current()) {
  simt::check_global(global, sizeof(Packet), where);
  return *static_cast<const Packet*>(global);
}
inline std::uint32_t load_word(const void* global,
                               const simt::Where& where = simt::Where::current()) {
  simt::check_global(global, sizeof(std::uint32_t), where);
  std::uint32_t word;
  std::memcpy(&word, global, sizeof word);
  return word;
}
inline void store_word(void* global, std::uint32_t word,
                       const simt::Where& where = simt::Where::current()) {
  simt::check_global(global, sizeof word, where);
  std::memcpy(global, &word, sizeof word);
}

}  // namespace vitascope::kernels::cuda
