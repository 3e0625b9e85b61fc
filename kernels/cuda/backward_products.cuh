#pragma once

#include "kernels/cuda/backward.cuh"
#include "kernels/cuda/dispatch.cuh"
#include "kernels/cuda/tile.cuh"

/// \file
/// Products of the backward pass by tensor cores: scores and their gradients are made 16 x 16 at a
/// time, and are at once, as fragments, what the products for dq, dk and dv want.
namespace vitascope::kernels::cuda {

/// What a problem's rows allow.
inline Layout layout_of(const BackwardProblem& problem) {
  return {rows_in_packets(problem.q, problem.q_strides) &&
              rows_in_packets(problem.k, problem.k_strides) &&
              rows_in_packets(problem.v, problem.v_strides) &&
              rows_in_packets(problem.out, problem.out_strides) &&
              rows_in_packets(problem.dout, problem.dout_strides),
          rows_in_pairs(problem.dq, problem.dq_strides) &&
              rows_in_pairs(problem.dk, problem.dk_strides) &&
              rows_in_pairs(problem.dv, problem.dv_strides)};
}

/// Rows of one of a task's tensors.
template <class T>
__device__ __forceinline__ Rows<T> rows_at(const BackwardTask& task, const Place& place,
                                           const void* first, const Strides& strides,
                                           bool packets) {
  return {static_cast<const T*>(first) + strides.offset(place.batch, place.head, 0), strides.row,
          static_cast<int>(task.width), packets};
}

/// Products of a warp's groups of 16 rows and 16 rows of a tile, as the fragments of C.
template <int kGroups = 1>
struct Products {
  float scores[kGroups][2][4] = {}, gradients[kGroups][2][4] = {};
};

/// Groups of 16 rows of a warp, as the fragments of A: held in registers, or fetched from their
/// tile each time.
template <int kWidth, class T, bool kHeld = true, int kGroups = 1>
struct Kept {
  const T* tile;
  std::uint32_t rows[kGroups][kHeld ? kWidth / 16 : 1][4];

  __device__ __forceinline__ explicit Kept(const T* tile) : tile(tile) {
    if constexpr (kHeld) {
#pragma unroll
      for (int g = 0; g < kGroups; ++g) {
#pragma unroll
        for (int k = 0; k < kWidth / 16; ++k) load(rows[g][k], g, k);
      }
    }
  }
  __device__ __forceinline__ void load(std::uint32_t (&a)[4], int g, int k) const {
    const int row = (static_cast<int>(threadIdx.x) / 32 * kGroups + g) * 16;
    load_a<kWidth>(a, tile, row, 16 * k);
  }
};

/// `kept` times 16 rows, from `row` on, of the tile.
template <int kWidth, class T, bool kHeld, int kGroups>
__device__ __forceinline__ void multiply_rows(float (&products)[kGroups][2][4],
                                              const Kept<kWidth, T, kHeld, kGroups>& kept,
                                              const T* tile, int row) {
#pragma unroll
  for (int k = 0; k < kWidth / 16; ++k) {
    std::uint32_t b[4];
    load_b<kWidth>(b, tile, row, 16 * k);
#pragma unroll
    for (int g = 0; g < kGroups; ++g) {
      std::uint32_t a[4];
      if constexpr (kHeld) {
        for (int i = 0; i < 4; ++i) a[i] = kept.rows[g][k][i];
      } else {
        kept.load(a, g, k);
      }
      mma_16x8x16<T>(products[g][0], a, b[0], b[1]);
      mma_16x8x16<T>(products[g][1], a, b[2], b[3]);
    }
  }
}

/// A 16 x 16 product, rounded to T: from the fragments of C to those of A.
template <class T>
__device__ __forceinline__ void round_product(std::uint32_t (&a)[4], const float (&values)[2][4]) {
  for (int i = 0; i < 4; ++i) {
    a[i] = pack<T>(values[i / 2][i % 2 * 2], values[i / 2][i % 2 * 2 + 1]);
  }
}

/// sums += values times 16 rows, from `row` on, of the tile.
template <bool kGuarded, int kWidth, class T, int kGroups>
__device__ __forceinline__ void add_products(float (&sums)[kGroups][kWidth / 8][4],
                                             const std::uint32_t (&values)[kGroups][4],
                                             const T* tile, int row) {
#pragma unroll
  for (int n = 0; n < kWidth / 16; ++n) {
    std::uint32_t b[4];
    load_b_trans<kWidth>(b, tile, row, 16 * n);
#pragma unroll
    for (int g = 0; g < kGroups; ++g) {
      multiply<kGuarded, T>(sums[g][2 * n], values[g], b[0], b[1]);
      multiply<kGuarded, T>(sums[g][2 * n + 1], values[g], b[2], b[3]);
    }
  }
}

/// Sums for dk and dv of a warp's groups of 16 keys.
template <int kWidth, int kGroups = 1>
struct KeySums {
  float keys[kGroups][kWidth / 8][4] = {}, values[kGroups][kWidth / 8][4] = {};
};

/// Writes dk and dv of the keys from place.row on.
template <class T, int kWidth, int kGroups>
__device__ __forceinline__ void store_key_sums(const BackwardTask& task, const Place& place,
                                               const KeySums<kWidth, kGroups>& sums, bool pairs) {
  const int width = static_cast<int>(task.width);
  T* const dk = static_cast<T*>(task.dk) + task.dk_strides.offset(place.batch, place.head, 0);
  T* const dv = static_cast<T*>(task.dv) + task.dv_strides.offset(place.batch, place.head, 0);
#pragma unroll
  for (int g = 0; g < kGroups; ++g) {
#pragma unroll
    for (int r = 0; r < 2; ++r) {
      const std::int64_t row = place.row + 16 * g + static_cast<int>(threadIdx.x) % 32 / 4 + 8 * r;
      if (row >= task.keys) continue;
      store_row(dk + row * task.dk_strides.row, sums.keys[g], r, task.scale, width, pairs);
      store_row(dv + row * task.dv_strides.row, sums.values[g], r, 1.0f, width, pairs);
    }
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
                                      float (&scores)[2][4], float (&gradients)[2][4], const At& at,
                                      const LseOf& lse_of, const DeltaOf& delta_of) {
  Bits bits;
  if constexpr (kGeneral) bits = bits_of(problem, place, at);
  const float factor = kGeneral ? problem.dropout.kept_factor() : 1;
#pragma unroll
  for (int n = 0; n < 2; ++n) {
#pragma unroll
    for (int c = 0; c < 4; ++c) {
      float& score = scores[n][c];
      float& gradient = gradients[n][c];
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

/// Adds to dk and dv of a warp's keys what 16 queries give: rows `row`.. of the tiles of q and
/// dout. \param leave is given the number of each group and its dS^T, rounded to T, as fragments of
/// A
template <bool kGeneral, int kWidth, class T, bool kKeysHeld, bool kValuesHeld, int kGroups,
          class At, class LseOf, class DeltaOf, class Leave>
__device__ __forceinline__ void add_to_keys(const BackwardTask& task, const Place& place,
                                            const Kept<kWidth, T, kKeysHeld, kGroups>& key,
                                            const Kept<kWidth, T, kValuesHeld, kGroups>& value,
                                            const T* q, const T* dout, int row,
                                            KeySums<kWidth, kGroups>& sums, const At& at,
                                            const LseOf& lse_of, const DeltaOf& delta_of,
                                            const Leave& leave) {
  static_assert(!kGeneral || kGroups == 1, "`at` knows of one group");
  Products<kGroups> products;
  multiply_rows<kWidth>(products.scores, key, q, row);
  multiply_rows<kWidth>(products.gradients, value, dout, row);
  std::uint32_t probabilities[kGroups][4], gradients[kGroups][4];
#pragma unroll
  for (int g = 0; g < kGroups; ++g) {
    weigh<kGeneral>(task, place, products.scores[g], products.gradients[g], at, lse_of, delta_of);
    round_product<T>(probabilities[g], products.scores[g]);
    round_product<T>(gradients[g], products.gradients[g]);
    leave(g, gradients[g]);
  }
  add_products<false, kWidth>(sums.values, probabilities, dout, row);
  add_products<false, kWidth>(sums.keys, gradients, q, row);
}

}  // namespace vitascope::kernels::cuda
