#pragma once

#include "kernels/cpu/pack.h"

/// \file
/// In what numbers the products run: float32, or pairs of bfloat16 where the processor multiplies
/// them. A word is the 4 bytes that a lane holds: one float, or two neighbours along the sum.
namespace vitascope::kernels::cpu::VITASCOPE_ISA {

/// Gives out parts of a workspace, one behind the other, each from a line of the cache on.
struct Workspace {
  std::int64_t size = 0;  ///< in floats

  std::int64_t place(std::int64_t floats) {
    const std::int64_t at = size;
    size += round_up(floats, 16);
    return at;
  }
};

/// Everything in float32, whatever the inputs are.
struct Float32 {
  using Word = float;
  static constexpr int kPerWord = 1;
  static constexpr int kExpDegree = 5;  ///< of the polynomial behind probabilities

  /// Words of a row of `count` numbers.
  static std::int64_t words(std::int64_t count) { return count; }

  /// keys -> panels for products that sum over the width.
  static void pack_columns(const Rows& rows, Word* to) {
    pack_panels(
        rows.count, rows.width,
        [&](std::int64_t row, std::int64_t d) -> Vector { return read_vector(rows, row, d); }, to);
  }

  /// Rows for products that sum over them: [count][ld].
  static void pack_summed(const Rows& rows, Word* to, std::int64_t ld) { pack_rows(rows, to, ld); }

  /// The left side of a product: [count][words(width)].
  static void pack_left(const Rows& rows, Word* to) { pack_rows(rows, to, rows.width); }

  template <Order kOrder, int R, int C>
  VITASCOPE_INLINE static void multiply_add(const Word* a, std::int64_t lda, const Word* b,
                                            std::int64_t ldb, std::int64_t words,
                                            Block<R, C>& block) {
    multiply<kOrder>(a, lda, b, ldb, words, block);
  }

  /// Puts numbers of a row where a product that sums along it reads them as its left side.
  VITASCOPE_INLINE static void put(Vector p, Word* row, std::int64_t column) {
    store(row + column, p);
  }
  /// Puts numbers of kPerWord neighbouring rows where a product that sums over rows reads them.
  VITASCOPE_INLINE static void put_rows(const Vector (&p)[kPerWord], Word* row,
                                        std::int64_t column) {
    store(row + column, p[0]);
  }
  VITASCOPE_INLINE static float get(const Word* row, std::int64_t column) { return row[column]; }
};

#if defined(__AVX512BF16__)
/// Inputs that are bfloat16 stay so, and probabilities are rounded to it; sums are float32.
struct Bfloat16Pairs {
  using Word = std::int32_t;
  static constexpr int kPerWord = 2;
  static constexpr int kExpDegree = 4;

  static std::int64_t words(std::int64_t count) { return (count + 1) / 2; }

  static void pack_columns(const Rows& rows, Word* to) {
    pack_panels(
        rows.count, words(rows.width),
        [&](std::int64_t row, std::int64_t word) -> Integers {
          const void* from = address(rows.at(row), rows.element, 2 * word);
          Integers pairs{};
          const std::int64_t count = smaller(2 * kLanes, rows.width - 2 * word);
          if (count == 2 * kLanes) {
            std::memcpy(&pairs, from, sizeof pairs);
          } else {
            std::memcpy(&pairs, from, static_cast<std::size_t>(count) * 2);
          }
          return pairs;
        },
        to);
  }

  /// [words(count)][ld]: each word holds a column's numbers of two neighbouring rows.
  static void pack_summed(const Rows& rows, Word* to, std::int64_t ld) {
    for (std::int64_t i = 0; i < rows.count; i += 2, to += ld) {
      const auto* even = static_cast<const std::uint16_t*>(rows.at(i));
      const bool paired = i + 1 < rows.count;
      const auto* odd = static_cast<const std::uint16_t*>(rows.at(paired ? i + 1 : i));
      const std::uint32_t keep = paired ? 0xFFFF0000u : 0;
      for (std::int64_t d = 0; d < rows.width; ++d) {
        to[d] = static_cast<Word>(even[d] | (std::uint32_t(odd[d]) << 16 & keep));
      }
      for (std::int64_t d = rows.width; d < ld; ++d) to[d] = 0;
    }
  }

  static void pack_left(const Rows& rows, Word* to) {
    for (std::int64_t i = 0; i < rows.count; ++i, to += words(rows.width)) {
      to[words(rows.width) - 1] = 0;
      std::memcpy(to, rows.at(i), static_cast<std::size_t>(rows.width) * 2);
    }
  }

  template <Order kOrder, int R, int C>
  VITASCOPE_INLINE static void multiply_add(const Word* a, std::int64_t lda, const Word* b,
                                            std::int64_t ldb, std::int64_t words,
                                            Block<R, C>& block) {
    multiply_pairs<kOrder>(a, lda, b, ldb, words, block);
  }

  VITASCOPE_INLINE static void put(Vector p, Word* row, std::int64_t column) {
    const __m256i halves = __m256i(_mm512_cvtneps_pbh(__m512(p)));
    std::memcpy(reinterpret_cast<char*>(row) + 2 * column, &halves, sizeof halves);
  }
  VITASCOPE_INLINE static void put_rows(const Vector (&p)[kPerWord], Word* row,
                                        std::int64_t column) {
    constexpr __mmask16 kAll = 0xFFFF;  // spares GCC 12 a false warning
    const __m512i even =
        _mm512_maskz_cvtepu16_epi32(kAll, __m256i(_mm512_cvtneps_pbh(__m512(p[0]))));
    const __m512i odd =
        _mm512_maskz_cvtepu16_epi32(kAll, __m256i(_mm512_cvtneps_pbh(__m512(p[1]))));
    const Integers pairs = Integers(even) | Integers(odd) << 16;
    std::memcpy(row + column, &pairs, sizeof pairs);
  }
  VITASCOPE_INLINE static float get(const Word* row, std::int64_t column) {
    std::uint16_t half;
    std::memcpy(&half, reinterpret_cast<const char*>(row) + 2 * column, sizeof half);
    return from_bfloat16(half);
  }
};
#endif

}  // namespace vitascope::kernels::cpu::VITASCOPE_ISA
