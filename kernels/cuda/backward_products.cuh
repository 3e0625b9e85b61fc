#pragma once

#include "kernels/cuda/backward.cuh"
#include "kernels/cuda/tile.cuh"

/// \file
/// Products of the backward pass by tensor cores: scores and their gradients are made 16 x 16 at a
/// time, and are at once, as fragments, what the products for dq, dk and dv want.
namespace vitascope::kernels::cuda {

/// Two products of 16 x 16, as the fragments of C.
struct Products {
  float scores[2][4] = {}, gradients[2][4] = {};
};

/// 16 rows of a warp, as the fragments of A: held in registers, or fetched from their tile each
/// time.
template <int kWidth, class T, bool kHeld = true>
struct Kept {
  const T* tile;
  std::uint32_t rows[kHeld ? kWidth / 16 : 1][4];

  __device__ __forceinline__ explicit Kept(const T* tile) : tile(tile) {
    if constexpr (kHeld) {
#pragma unroll
      for (int k = 0; k < kWidth / 16; ++k) load(rows[k], k);
    }
  }
  __device__ __forceinline__ void load(std::uint32_t (&a)[4], int k) const {
    load_a<kWidth>(a, tile, static_cast<int>(threadIdx.x) / 32 * 16, 16 * k);
  }
};

/// `kept` times 16 rows, from `row` on, of the tile.
template <int kWidth, class T, bool kHeld>
__device__ __forceinline__ void multiply_rows(float (&products)[2][4],
                                              const Kept<kWidth, T, kHeld>& kept, const T* tile,
                                              int row) {
#pragma unroll
  for (int k = 0; k < kWidth / 16; ++k) {
    std::uint32_t a[4], b[4];
    if constexpr (kHeld) {
      for (int i = 0; i < 4; ++i) a[i] = kept.rows[k][i];
    } else {
      kept.load(a, k);
    }
    load_b<kWidth>(b, tile, row, 16 * k);
    mma_16x8x16<T>(products[0], a, b[0], b[1]);
    mma_16x8x16<T>(products[1], a, b[2], b[3]);
  }
}

/// sums += values (rounded to T) times 16 rows, from `row` on, of the tile.
template <bool kGuarded, int kWidth, class T>
__device__ __forceinline__ void add_products(float (&sums)[kWidth / 8][4],
                                             const float (&values)[2][4], const T* tile, int row) {
  const std::uint32_t a[4] = {
      pack<T>(values[0][0], values[0][1]), pack<T>(values[0][2], values[0][3]),
      pack<T>(values[1][0], values[1][1]), pack<T>(values[1][2], values[1][3])};
#pragma unroll
  for (int n = 0; n < kWidth / 16; ++n) {
    std::uint32_t b[4];
    load_b_trans<kWidth>(b, tile, row, 16 * n);
    multiply<kGuarded, T>(sums[2 * n], a, b[0], b[1]);
    multiply<kGuarded, T>(sums[2 * n + 1], a, b[2], b[3]);
  }
}

/// Row and column, in a 16 x 16 product, of element c of fragment n of a lane.
__device__ __forceinline__ int row_of_element(int c) {
  return static_cast<int>(threadIdx.x) % 32 / 4 + c / 2 * 8;
}
__device__ __forceinline__ int column_of_element(int n, int c) {
  return 8 * n + static_cast<int>(threadIdx.x) % 4 * 2 + c % 2;
}

/// What an element of a product is of.
struct Pair {
  std::int64_t query, key;
};

/// Which of a lane's 8 elements of a product are seen, and which dropout keeps.
struct Bits {
  unsigned seen = 0xFF, kept = 0xFF;
};

/// \param at the Pair of a row and a column
template <class At>
__device__ __forceinline__ Bits bits_of(const BackwardProblem& problem, const Place& place,
                                        const At& at) {
  Bits bits{0, 0};
#pragma unroll 1
  for (int e = 0; e < 8; ++e) {
    const Pair pair = at(row_of_element(e % 4), column_of_element(e / 4, e % 4));
    bits.seen |= static_cast<unsigned>(sees(problem, place, pair.query, pair.key)) << e;
    bits.kept |= static_cast<unsigned>(problem.dropout.probability == 0 ||
                                       keeps(problem, place, pair.query, pair.key))
                 << e;
  }
  return bits;
}

/// Scores of keys from `count` on become -inf. Their rows are zeros, but where every score is far
/// below 0, the exponential of 0 would be infinite.
__device__ __forceinline__ void hide_columns(float (&scores)[2][4], std::int64_t count) {
#pragma unroll
  for (int n = 0; n < 2; ++n) {
#pragma unroll
    for (int c = 0; c < 4; ++c) {
      if (column_of_element(n, c) >= count) scores[n][c] = VITASCOPE_MINUS_INFINITY;
    }
  }
}

/// Turns scores into probabilities and products of dout and v into gradients of scores.
/// \param lse_of, delta_of of the query that element (n, c) belongs to
template <bool kGeneral, class At, class LseOf, class DeltaOf>
__device__ __forceinline__ void weigh(const BackwardProblem& problem, const Place& place,
                                      Products& products, const At& at, const LseOf& lse_of,
                                      const DeltaOf& delta_of) {
  Bits bits;
  if constexpr (kGeneral) bits = bits_of(problem, place, at);
  const float factor = kGeneral ? problem.dropout.kept_factor() : 1;
#pragma unroll
  for (int n = 0; n < 2; ++n) {
#pragma unroll
    for (int c = 0; c < 4; ++c) {
      float& score = products.scores[n][c];
      float& gradient = products.gradients[n][c];
      const float lse = lse_of(n, c), delta = delta_of(n, c);
      if constexpr (kGeneral) {
        const Pair pair = at(row_of_element(c), column_of_element(n, c));
        const int number = 4 * n + c;
        const float whole =
            score_of(problem, place, pair.query, pair.key, score, bits.seen >> number & 1);
        const Weight weight =
            weight_of(whole, lse, gradient, delta, bits.kept >> number & 1 ? factor : 0);
        score = weight.probability;
        gradient = weight.gradient;
      } else {
        score = exp2_approx((score * problem.scale - lse) * kLog2e);
        gradient = score * (gradient - delta);
      }
    }
  }
}

}  // namespace vitascope::kernels::cuda
