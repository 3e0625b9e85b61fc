#pragma once

#include "kernels/cpu/vector.h"

/// \file
/// The one product behind attention: a few rows of C = A B, C in registers from first to last. All
/// five products of forward and backward are of this shape; they differ in what A and B are.
namespace vitascope::kernels::cpu::VITASCOPE_ISA {

/// Rows and vectors of a register block: 24 accumulators of AVX-512's 32 registers, 12 of 16 else.
inline constexpr int kRows = 6;
inline constexpr int kVectors = kLanes == 16 ? 4 : 2;

/// How A lies in memory: A[row][k] side by side along k, or A[k][row] side by side along rows.
enum class Order { rows, columns };

/// R x (C vectors) numbers in registers.
template <int R, int C>
struct Block {
  Vector at[R][C];
};

/// Calls `work(row, vector, number)` for every vector of a block.
template <int R, int C, typename Work>
VITASCOPE_INLINE void each_vector(Block<R, C>& block, const Work& work) {
#pragma GCC unroll 6
  for (int r = 0; r < R; ++r) {
#pragma GCC unroll 4
    for (int c = 0; c < C; ++c) work(r, c, block.at[r][c]);
  }
}

/// block (+)= A B.
/// \param a     R rows, `lda` apart in the sense of kOrder
/// \param b     [k][C * kLanes], rows `ldb` apart
template <Order kOrder, int R, int C>
VITASCOPE_INLINE void multiply(const float* a, std::int64_t lda, const float* b, std::int64_t ldb,
                               std::int64_t k, Block<R, C>& block) {
  for (std::int64_t i = 0; i < k; ++i) {
    Vector right[C];
#pragma GCC unroll 4
    for (int c = 0; c < C; ++c) right[c] = load(b + i * ldb + c * kLanes);
#pragma GCC unroll 6
    for (int r = 0; r < R; ++r) {
      const Vector left = broadcast(kOrder == Order::rows ? a[r * lda + i] : a[i * lda + r]);
#pragma GCC unroll 4
      for (int c = 0; c < C; ++c) block.at[r][c] += left * right[c];
    }
  }
}

#if defined(__AVX512BF16__)
/// The same over pairs of bfloat16, summed in float32: A holds pairs along k, B[pair] for each
/// column the two numbers of its rows. All strides and k count pairs.
template <Order kOrder, int R, int C>
VITASCOPE_INLINE void multiply_pairs(const std::int32_t* a, std::int64_t lda, const std::int32_t* b,
                                     std::int64_t ldb, std::int64_t k, Block<R, C>& block) {
  for (std::int64_t i = 0; i < k; ++i) {
    __m512bh right[C];
#pragma GCC unroll 4
    for (int c = 0; c < C; ++c) right[c] = __m512bh(_mm512_loadu_si512(b + i * ldb + c * kLanes));
#pragma GCC unroll 6
    for (int r = 0; r < R; ++r) {
      std::int32_t pair;
      std::memcpy(&pair, kOrder == Order::rows ? a + r * lda + i : a + i * lda + r, sizeof pair);
      const __m512bh left = __m512bh(_mm512_set1_epi32(pair));
#pragma GCC unroll 4
      for (int c = 0; c < C; ++c) {
        block.at[r][c] = Vector(_mm512_dpbf16_ps(__m512(block.at[r][c]), left, right[c]));
      }
    }
  }
}
#endif

/// A compile-time number handed to a generic lambda.
template <int N>
struct Constant {
  static constexpr int value = N;
};

/// Calls `work(Constant<rows>, Constant<vectors>)` for numbers known only at run time.
template <int C, typename Work>
VITASCOPE_INLINE void with_rows(std::int64_t rows, const Work& work) {
  switch (rows) {
    case 1:
      return work(Constant<1>(), Constant<C>());
    case 2:
      return work(Constant<2>(), Constant<C>());
    case 3:
      return work(Constant<3>(), Constant<C>());
    case 4:
      return work(Constant<4>(), Constant<C>());
    case 5:
      return work(Constant<5>(), Constant<C>());
    default:
      return work(Constant<6>(), Constant<C>());
  }
}

/// The same for 1 to kVectors vectors.
template <typename Work>
VITASCOPE_INLINE void with_block(std::int64_t rows, std::int64_t vectors, const Work& work) {
  if constexpr (kVectors == 4) {
    if (vectors == 4) return with_rows<4>(rows, work);
    if (vectors == 3) return with_rows<3>(rows, work);
  }
  return vectors == 2 ? with_rows<2>(rows, work) : with_rows<1>(rows, work);
}

/// Columns in register blocks as equal as can be: 13 vectors are 4 + 3 + 3 + 3.
struct Panels {
  std::int64_t vectors;  ///< in all

  static Panels of(std::int64_t columns) { return {(columns + kLanes - 1) / kLanes}; }
  std::int64_t count() const { return (vectors + kVectors - 1) / kVectors; }
  std::int64_t begin(std::int64_t panel) const { return panel * vectors / count(); }
  std::int64_t size(std::int64_t panel) const { return begin(panel + 1) - begin(panel); }
  std::int64_t columns() const { return vectors * kLanes; }

  /// Floats from row to row of a matrix of so many columns. Neighbouring rows an odd number of
  /// vectors apart do not fall into the same lines of the cache.
  std::int64_t stride() const { return (vectors + (vectors % 2 == 0)) * kLanes; }
};

/// Calls `work(first row, first column, Constant<rows>, Constant<vectors>)` for every register
/// block of the panels first .. end - 1, panel by panel.
template <typename Work>
VITASCOPE_INLINE void each_block(std::int64_t rows, Panels panels, std::int64_t first,
                                 std::int64_t end, const Work& work) {
  for (std::int64_t panel = first; panel < end; ++panel) {
    const std::int64_t column = panels.begin(panel) * kLanes;
    for (std::int64_t row = 0; row < rows; row += kRows) {
      with_block(smaller(kRows, rows - row), panels.size(panel),
                 [&](auto r, auto c) { work(row, column, r, c); });
    }
  }
}

/// The same for all columns of a matrix.
template <typename Work>
VITASCOPE_INLINE void each_block(std::int64_t rows, std::int64_t columns, const Work& work) {
  const Panels panels = Panels::of(columns);
  each_block(rows, panels, 0, panels.count(), work);
}

}  // namespace vitascope::kernels::cpu::VITASCOPE_ISA
