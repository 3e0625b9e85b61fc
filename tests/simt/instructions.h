#pragma once

#include <cstdint>

#include "tests/simt/emulator.h"

/// \file
/// Warp-wide instructions, with the places of fragments that PTX defines (PTX ISA 9.0, sections
/// "Matrix fragments for mma.m16n8k16" and "ldmatrix").
namespace simt {

/// \throws Fault unless all 32 lanes are named: parts of a warp are not emulated
void require_whole_warp(unsigned mask, const Where& where);
void warp_barrier(const Where& where);
bool any_in_warp(bool value, const Where& where);

/// Bits of `value` as lane `from` brought them.
std::uint32_t shuffle_bits(std::uint32_t value, int from, const Where& where);

/// \param source the lane to read from, given one's own
template <class T, class Source>
T shuffle(unsigned mask, T value, Source source, const Where& where) {
  static_assert(sizeof(T) == 4, "only 32-bit values are emulated");
  require_whole_warp(mask, where);
  const auto bits =
      shuffle_bits(__builtin_bit_cast(std::uint32_t, value), source(lane_index()), where);
  return __builtin_bit_cast(T, bits);
}

enum class MatrixElement { bf16, f16 };

/// d += a b. a: 16 x 16, b: 16 x 8, both of 16-bit elements; d: 16 x 8 in float32.
void mma_16x8x16(MatrixElement element, float (&d)[4], const std::uint32_t (&a)[4],
                 std::uint32_t b0, std::uint32_t b1, const Where& where);

/// Four 8 x 8 matrices of 16-bit elements; lane 8 m + r says where row r of matrix m begins.
void ldmatrix_x4(std::uint32_t (&matrices)[4], const void* row, bool transposed,
                 const Where& where);

/// What has been done since the counts were last set to 0.
struct Counts {
  std::uint64_t products = 0;     ///< mma_16x8x16
  std::uint64_t loads = 0;        ///< matrices that ldmatrix fetched
  std::uint64_t conflicting = 0;  ///< of these, such whose rows share banks of shared memory
};
Counts& counts();

/// As check_shared or check_global, whichever memory it is.
void check_memory(const void* address, std::size_t bytes, const Where& where);

/// \name Conversions, to nearest, ties to even
/// @{
float from_bf16(std::uint16_t bits);
float from_f16(std::uint16_t bits);
std::uint16_t to_bf16(float value);
std::uint16_t to_f16(float value);
/// @}

}  // namespace simt
