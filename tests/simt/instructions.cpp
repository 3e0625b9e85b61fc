#include "tests/simt/instructions.h"

#include <bit>
#include <cmath>
#include <cstring>
#include <limits>

namespace simt {
namespace {

/// Element (row, column) of the halves of 32-bit registers: which lane holds it, in which register.
struct Place {
  int lane, index, half;
};

// A, 16 x 16: lane 4 g + t holds rows g and g + 8, columns 2 t, 2 t + 1 and those 8 further.
constexpr Place place_in_a(int row, int column) {
  return {row % 8 * 4 + column % 8 / 2, row / 8 + column / 8 * 2, column % 2};
}
// B, 16 x 8: lane 4 g + t holds column g, rows 2 t, 2 t + 1 and those 8 further.
constexpr Place place_in_b(int row, int column) {
  return {column * 4 + row % 8 / 2, row / 8, row % 2};
}
// C and D, 16 x 8 in float32: lane 4 g + t holds rows g and g + 8, columns 2 t, 2 t + 1.
constexpr Place place_in_c(int row, int column) {
  return {row % 8 * 4 + column / 2, row / 8 * 2 + column % 2, 0};
}

struct MmaPart {
  float d[4];
  std::uint32_t a[4];
  std::uint32_t b[2];
};

std::uint16_t half_of(std::uint32_t word, int half) {
  return static_cast<std::uint16_t>(word >> (16 * half));
}

/// Tensor cores add without rounding to nearest (Fasi, Higham, Mikaitis and Pranesh 2021,
/// "Numerical behavior of NVIDIA tensor cores"): the sum of 17 terms loses what does not fit into
/// float32.
float truncated(double sum) {
  const auto nearest = static_cast<float>(sum);
  return std::abs(double{nearest}) > std::abs(sum) ? std::nextafter(nearest, 0.0f) : nearest;
}

template <float (*convert)(std::uint16_t)>
void run_mma(void* const (&lanes)[32], const Where&) {
  ++counts().products;
  const auto part = [&](int lane) { return static_cast<MmaPart*>(lanes[lane]); };
  float b[8][16];
  for (int k = 0; k < 16; ++k) {
    for (int n = 0; n < 8; ++n) {
      const Place at = place_in_b(k, n);
      b[n][k] = convert(half_of(part(at.lane)->b[at.index], at.half));
    }
  }
  for (int m = 0; m < 16; ++m) {
    float a[16];
    for (int k = 0; k < 16; ++k) {
      const Place at = place_in_a(m, k);
      a[k] = convert(half_of(part(at.lane)->a[at.index], at.half));
    }
    for (int n = 0; n < 8; ++n) {
      const Place at = place_in_c(m, n);
      float& d = part(at.lane)->d[at.index];
      double sum = d;
      for (int k = 0; k < 16; ++k) sum += double{a[k]} * double{b[n][k]};
      d = truncated(sum);
    }
  }
}

struct LoadPart {
  const void* row;
  std::uint32_t matrices[4];
};

template <bool kTransposed>
void run_ldmatrix(void* const (&lanes)[32], const Where& where) {
  const auto part = [&](int lane) { return static_cast<LoadPart*>(lanes[lane]); };
  for (int matrix = 0; matrix < 4; ++matrix) {
    std::uint16_t rows[8][8];
    unsigned banks = 0;  // in groups of 4, which is what a row takes
    for (int row = 0; row < 8; ++row) {
      const void* from = part(matrix * 8 + row)->row;
      check_shared(from, 16, where);
      banks |= 1u << (reinterpret_cast<std::uintptr_t>(from) / 16 % 8);
      std::memcpy(rows[row], from, 16);
    }
    ++counts().loads;
    counts().conflicting += banks != 0xFF;
    // Lane 4 g + t takes (g, 2 t) and (g, 2 t + 1), of the transposed matrix where that is asked.
    for (int lane = 0; lane < 32; ++lane) {
      const int g = lane / 4, t = lane % 4 * 2;
      const std::uint32_t low = kTransposed ? rows[t][g] : rows[g][t];
      const std::uint32_t high = kTransposed ? rows[t + 1][g] : rows[g][t + 1];
      part(lane)->matrices[matrix] = low | high << 16;
    }
  }
}

struct ShufflePart {
  std::uint32_t value, result;
  int from;
};

void run_shuffle(void* const (&lanes)[32], const Where&) {
  for (void* lane : lanes) {
    auto* part = static_cast<ShufflePart*>(lane);
    part->result = static_cast<ShufflePart*>(lanes[part->from % 32])->value;
  }
}

void run_any(void* const (&lanes)[32], const Where&) {
  bool any = false;
  for (const void* lane : lanes) any = any || *static_cast<const bool*>(lane);
  for (void* lane : lanes) *static_cast<bool*>(lane) = any;
}

void run_nothing(void* const (&)[32], const Where&) {}

}  // namespace

Counts& counts() {
  static Counts all;
  return all;
}

void require_whole_warp(unsigned mask, const Where& where) {
  if (mask != ~0u) throw Fault("a warp-wide function for a part of the warp", where);
}

void warp_barrier(const Where& where) { warp_wide(run_nothing, nullptr, where); }

bool any_in_warp(bool value, const Where& where) {
  warp_wide(run_any, &value, where);
  return value;
}

std::uint32_t shuffle_bits(std::uint32_t value, int from, const Where& where) {
  ShufflePart part{value, 0, from};
  warp_wide(run_shuffle, &part, where);
  return part.result;
}

void mma_16x8x16(MatrixElement element, float (&d)[4], const std::uint32_t (&a)[4],
                 std::uint32_t b0, std::uint32_t b1, const Where& where) {
  MmaPart part{{d[0], d[1], d[2], d[3]}, {a[0], a[1], a[2], a[3]}, {b0, b1}};
  warp_wide(element == MatrixElement::bf16 ? run_mma<from_bf16> : run_mma<from_f16>, &part, where);
  std::memcpy(d, part.d, sizeof part.d);
}

void ldmatrix_x4(std::uint32_t (&matrices)[4], const void* row, bool transposed,
                 const Where& where) {
  LoadPart part{row, {}};
  warp_wide(transposed ? run_ldmatrix<true> : run_ldmatrix<false>, &part, where);
  std::memcpy(matrices, part.matrices, sizeof part.matrices);
}

void check_memory(const void* address, std::size_t bytes, const Where& where) {
  try {
    check_shared(address, bytes, where);
  } catch (const Fault&) {
    check_global(address, bytes, where);
  }
}

float from_bf16(std::uint16_t bits) {
  return std::bit_cast<float>(static_cast<std::uint32_t>(bits) << 16);
}

float from_f16(std::uint16_t bits) {
  // The exponent of float16 begins 112 lower; the product also normalises subnormal numbers.
  const std::uint32_t magnitude = bits & 0x7FFFu, sign = (bits & 0x8000u) << 16;
  const float scaled = std::bit_cast<float>(magnitude << 13) * 0x1p112f;
  const std::uint32_t special = magnitude >= 0x7C00u ? 0x7F800000u : 0u;
  return std::bit_cast<float>(std::bit_cast<std::uint32_t>(scaled) | special | sign);
}

std::uint16_t to_bf16(float value) {
  if (value != value) return 0x7FFF;
  const auto bits = std::bit_cast<std::uint32_t>(value);
  return static_cast<std::uint16_t>((bits + 0x7FFF + (bits >> 16 & 1)) >> 16);
}

std::uint16_t to_f16(float value) {
  if (value != value) return 0x7FFF;
  const auto bits = std::bit_cast<std::uint32_t>(value);
  const auto sign = static_cast<std::uint16_t>(bits >> 16 & 0x8000);
  const std::uint32_t magnitude = bits & 0x7FFFFFFF;
  if (magnitude >= 0x47800000) return sign | 0x7C00;  // 65536 and more
  if (magnitude < 0x38800000) {
    // Subnormal: adding 0.5 leaves the rounded multiple of 2^-24 in the low bits.
    const float shifted = std::bit_cast<float>(magnitude) + 0.5f;
    return sign | static_cast<std::uint16_t>(std::bit_cast<std::uint32_t>(shifted) - 0x3F000000);
  }
  const std::uint32_t rounded = magnitude + 0xFFF + (magnitude >> 13 & 1);
  return sign | static_cast<std::uint16_t>((rounded >> 13) - (112 << 10));
}

}  // namespace simt
