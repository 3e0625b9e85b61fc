#pragma once

#include <cstdint>

#include "kernels/attention_problem.h"

/// \file
/// Types of elements, as bits: what converts them is in ptx.cuh.
namespace vitascope::kernels::cuda {

/// The upper half of a float32.
struct BFloat16 {
  std::uint16_t bits;
};
/// IEEE 754 binary16.
struct Float16 {
  std::uint16_t bits;
};

/// 16 bytes that move as one.
struct alignas(16) Packet {
  std::uint32_t words[4];
};

/// Bits of the exponent of both halves of a pair: all set in NaN and infinity.
template <class T>
constexpr std::uint32_t kExponents = 0;
template <>
inline constexpr std::uint32_t kExponents<BFloat16> = 0x7F807F80;
template <>
inline constexpr std::uint32_t kExponents<Float16> = 0x7C007C00;

/// The type that holds elements, by the name that a problem uses.
template <Element kElement>
struct TypeOf;
template <>
struct TypeOf<Element::bf16> {
  using type = BFloat16;
};
template <>
struct TypeOf<Element::f16> {
  using type = Float16;
};
template <>
struct TypeOf<Element::f32> {
  using type = float;
};

}  // namespace vitascope::kernels::cuda
