// The forward pass by tensor cores: softmax(scale q k^T + bias) v without ever writing the scores
// (FlashAttention-2, arXiv:2307.08691; online softmax, Milakov and Gimelshein, arXiv:1805.02867).
//
// A block has 4 warps and 64 queries of one (batch, head); a warp keeps 16 of them in registers.
// Tiles of 64 keys and values take turns in two places of shared memory: while one is worked on,
// the next is under way. Scores stay in registers: what the first product leaves is what the second
// wants. Of the last tile only as many steps of 16 keys are done as there are keys.
#include "kernels/cuda/attention.cuh"
#include "kernels/cuda/dispatch.cuh"
#include "kernels/cuda/plan.cuh"
#include "kernels/cuda/score.cuh"
#include "kernels/cuda/tile.cuh"

namespace vitascope::kernels::cuda {
namespace {

constexpr int kTile = 64, kWarps = kTile / 16, kThreads = 32 * kWarps, kSteps = kTile / 16;

/// Blocks that a multiprocessor is to have registers for; 0 leaves it to the compiler, which finds
/// room for 4 narrow plain ones by itself, but spills when it is told to.
template <int kWidth, bool kGeneral>
constexpr int blocks_at_once() {
  if (kWidth > 80) return kWidth > 96 || kGeneral ? 2 : 3;
  return kWidth > 64 || kGeneral ? 3 : 0;
}

/// What a warp knows of its 16 queries; a lane of two: rows lane / 4 and lane / 4 + 8.
template <int kWidth>
struct Softmax {
  float out[kWidth / 8][4] = {};  ///< unnormalised, as the fragments of C
  float maximum[2] = {VITASCOPE_MINUS_INFINITY, VITASCOPE_MINUS_INFINITY};  ///< in units of scores
  float sum[2] = {};  ///< this lane's part of the sum of exponentials, relative to the maximum
};

/// scores[2 j], scores[2 j + 1] = q k^T for keys 16 j.. of the tile; steps left out are not set.
template <int kWidth, class T>
__device__ __forceinline__ void multiply_keys(float (&scores)[2 * kSteps][4],
                                              const std::uint32_t (&query)[kWidth / 16][4],
                                              const T* keys, int steps) {
#pragma unroll
  for (int j = 0; j < kSteps; ++j) {
    for (int c = 0; c < 4; ++c) scores[2 * j][c] = scores[2 * j + 1][c] = 0;
    if (j >= steps) continue;
#pragma unroll
    for (int k = 0; k < kWidth / 16; ++k) {
      std::uint32_t b[4];
      load_b<kWidth>(b, keys, 16 * j, 16 * k);
      mma_16x8x16<T>(scores[2 * j], query[k], b[0], b[1]);
      mma_16x8x16<T>(scores[2 * j + 1], query[k], b[2], b[3]);
    }
  }
}

/// Turns scores into exponentials relative to the running maximum, and the sums with them.
/// \param unit log2(e) times what a score still has to be multiplied by
template <int kWidth>
__device__ __forceinline__ void exponentiate(float (&scores)[2 * kSteps][4],
                                             Softmax<kWidth>& softmax, float unit) {
#pragma unroll
  for (int r = 0; r < 2; ++r) {
    float maximum = softmax.maximum[r];
#pragma unroll
    for (int n = 0; n < 2 * kSteps; ++n) {
      maximum = fmaxf(maximum, fmaxf(scores[n][2 * r], scores[n][2 * r + 1]));
    }
    maximum = fmaxf(maximum, __shfl_xor_sync(~0u, maximum, 1));
    maximum = fmaxf(maximum, __shfl_xor_sync(~0u, maximum, 2));
    // Where nothing has been seen yet, -inf - 0 is still -inf, and -inf - -inf would be NaN.
    const float base = maximum == VITASCOPE_MINUS_INFINITY ? 0 : maximum;
    const float correction = exp2_approx((softmax.maximum[r] - base) * unit);
    softmax.maximum[r] = maximum;
    float sum = 0;
#pragma unroll
    for (int n = 0; n < 2 * kSteps; ++n) {
#pragma unroll
      for (int c = 2 * r; c < 2 * r + 2; ++c) {
        // The difference first. With one fused operation, score * unit - maximum * unit, the
        // largest weight is no longer 1 at scores of 1e5, and 1 is what float16 rounds without
        // loss.
        scores[n][c] = exp2_approx((scores[n][c] - base) * unit);
        sum += scores[n][c];
      }
    }
    softmax.sum[r] = softmax.sum[r] * correction + sum;
#pragma unroll
    for (int n = 0; n < kWidth / 8; ++n) {
      softmax.out[n][2 * r] *= correction;
      softmax.out[n][2 * r + 1] *= correction;
    }
  }
}

/// out += exponentials (rounded to T) v.
template <bool kGuarded, int kWidth, class T>
__device__ __forceinline__ void multiply_values(const float (&weights)[2 * kSteps][4],
                                                const T* values, int steps,
                                                Softmax<kWidth>& softmax) {
#pragma unroll
  for (int j = 0; j < kSteps; ++j) {
    if (j >= steps) continue;
    const float(&left)[4] = weights[2 * j], (&right)[4] = weights[2 * j + 1];
    const std::uint32_t a[4] = {pack<T>(left[0], left[1]), pack<T>(left[2], left[3]),
                                pack<T>(right[0], right[1]), pack<T>(right[2], right[3])};
#pragma unroll
    for (int n = 0; n < kWidth / 16; ++n) {
      std::uint32_t b[4];
      load_b_trans<kWidth>(b, values, 16 * j, 16 * n);
      multiply<kGuarded, T>(softmax.out[2 * n], a, b[0], b[1]);
      multiply<kGuarded, T>(softmax.out[2 * n + 1], a, b[2], b[3]);
    }
  }
}

/// Calls `change(query, key, value, number)` for each element of a warp's fragments.
template <class Change>
__device__ __forceinline__ void for_each_score(float (&scores)[2 * kSteps][4], std::int64_t query,
                                               std::int64_t key, const Change& change) {
  const int lane = static_cast<int>(threadIdx.x) % 32;
#pragma unroll
  for (int n = 0; n < 2 * kSteps; ++n) {
#pragma unroll
    for (int c = 0; c < 4; ++c) {
      float& value = scores[n][c];
      value = change(query + lane / 4 + c / 2 * 8, key + 8 * n + lane % 4 * 2 + c % 2, value,
                     4 * n + c);
    }
  }
}

/// Bit `number` of for_each_score: whether `holds(query, key)`. A loop, since what it calls is
/// long.
template <class Holds>
__device__ __forceinline__ std::uint32_t bits_of(std::int64_t query, std::int64_t key,
                                                 const Holds& holds) {
  static_assert(8 * kSteps == 32, "a bit for each score");
  const int lane = static_cast<int>(threadIdx.x) % 32;
  std::uint32_t bits = 0;
#pragma unroll 1
  for (int e = 0; e < 32; ++e) {
    const std::int64_t i = query + lane / 4 + e % 4 / 2 * 8;
    const std::int64_t j = key + e / 4 * 8 + lane % 4 * 2 + e % 2;
    bits |= static_cast<std::uint32_t>(holds(i, j)) << e;
  }
  return bits;
}

/// One tile of keys for one warp.
template <bool kGeneral, int kWidth, class T>
__device__ __forceinline__ void attend(const ForwardProblem& problem, const Place& place,
                                       const std::uint32_t (&query)[kWidth / 16][4], const T* keys,
                                       const T* values, std::int64_t key, std::int64_t end,
                                       Softmax<kWidth>& softmax) {
  const bool whole = end - key >= kTile;
  const int steps = whole ? kSteps : (static_cast<int>(end - key) + 15) / 16;
  float scores[2 * kSteps][4];
  multiply_keys<kWidth>(scores, query, keys, steps);
  // Hidden before the maximum: a score of 0 of a key that is not there would be one.
  if constexpr (kGeneral) {
    const std::uint32_t seen = bits_of(place.row, key, [&](std::int64_t i, std::int64_t j) {
      return j < end && sees(problem, place, i, j);
    });
    for_each_score(scores, place.row, key, [&](auto i, auto j, float product, int number) {
      return score_of(problem, place, i, j, product, seen >> number & 1);
    });
  } else if (!whole) {
    for_each_score(scores, 0, key, [&](auto, auto j, float product, int) {
      return j < end ? product : VITASCOPE_MINUS_INFINITY;
    });
  }
  exponentiate(scores, softmax, kGeneral ? kLog2e : problem.scale * kLog2e);
  if (kGeneral && problem.dropout.probability > 0) {
    const std::uint32_t kept = bits_of(place.row, key, [&](std::int64_t i, std::int64_t j) {
      return keeps(problem, place, i, j);
    });
    for_each_score(scores, 0, 0, [&](auto, auto, float weight, int number) {
      return kept >> number & 1 ? weight : 0;
    });
  }
  multiply_values<kGeneral>(scores, values, steps, softmax);
}

/// Writes out and lse of a warp's queries.
template <bool kGeneral, class T, int kWidth>
__device__ __forceinline__ void finish(const ForwardProblem& problem, const Place& place,
                                       const Layout& layout, const Softmax<kWidth>& softmax) {
  const int lane = static_cast<int>(threadIdx.x) % 32;
#pragma unroll
  for (int r = 0; r < 2; ++r) {
    float sum = softmax.sum[r];
    sum += __shfl_xor_sync(~0u, sum, 1);
    sum += __shfl_xor_sync(~0u, sum, 2);
    const std::int64_t query = place.row + lane / 4 + 8 * r;
    if (query >= problem.queries) continue;
    if (lane % 4 == 0) {
      const float scale = kGeneral ? 1 : problem.scale;
      problem.lse[(place.batch * problem.heads + place.head) * problem.queries + query] =
          sum == 0 ? VITASCOPE_MINUS_INFINITY : softmax.maximum[r] * scale + logf(sum);
    }
    const float factor = kGeneral ? problem.dropout.kept_factor() : 1;
    const float inverse = sum == 0 ? 0 : factor / sum;
    T* out =
        static_cast<T*>(problem.out) + problem.out_strides.offset(place.batch, place.head, query);
    store_row(out, softmax.out, r, inverse, static_cast<int>(problem.width), layout.pairs);
  }
}

/// q [B, H, Nq, D], k, v [B, H, Nk, D] -> out [B, H, Nq, D], lse [B, H, Nq]; D a multiple of 8.
/// \tparam kGeneral with masks, bias, dropout or an unusual scale
template <class T, int kWidth, bool kGeneral>
__global__ void __launch_bounds__(kThreads, blocks_at_once<kWidth, kGeneral>())
    attention_forward(const __grid_constant__ ForwardProblem problem, const Layout layout) {
  constexpr int kElements = kTile * kRowStride<kWidth>;
  T* const shared = reinterpret_cast<T*>(shared_memory());  // [2 turns][keys, values][tile]
  Place place = place_of(problem, blockIdx.x, problem.queries, kTile);
  const int width = static_cast<int>(problem.width);
  const auto rows = [&](const void* first, const Strides& strides) {
    return Rows<T>{static_cast<const T*>(first) + strides.offset(place.batch, place.head, 0),
                   strides.row, width, layout.packets};
  };
  const Rows<T> keys = rows(problem.k, problem.k_strides);
  const Rows<T> values = rows(problem.v, problem.v_strides);
  const Range range = kGeneral ? keys_of(problem, place.batch, place.row, place.row + kTile - 1)
                               : Range{0, problem.keys};
  const auto load = [&](std::int64_t key, int turn) {
    T* tile = shared + turn * 2 * kElements;
    load_tile<kWidth, kTile, kThreads>(tile, keys, key, range.end);
    load_tile<kWidth, kTile, kThreads>(tile + kElements, values, key, range.end);
  };

  // Queries pass through the place of the second tile of keys on their way into registers.
  load_tile<kWidth, kTile, kThreads>(shared + 2 * kElements, rows(problem.q, problem.q_strides),
                                     place.row, problem.queries);
  copy_async_commit();
  if (range.begin < range.end) load(range.begin, 0);
  copy_async_commit();
  copy_async_wait<1>();
  __syncthreads();
  const int warp_row = static_cast<int>(threadIdx.x) / 32 * 16;
  std::uint32_t query[kWidth / 16][4];
#pragma unroll
  for (int k = 0; k < kWidth / 16; ++k) {
    load_a<kWidth>(query[k], shared + 2 * kElements, warp_row, 16 * k);
  }
  place.row += warp_row;
  const bool idle = place.row >= problem.queries;  // a warp behind the last query only loads

  Softmax<kWidth> softmax;
  int turn = 0;
  for (std::int64_t key = range.begin; key < range.end; key += kTile, turn ^= 1) {
    copy_async_wait<0>();
    __syncthreads();  // this tile has come, and nobody reads the other any more
    if (key + kTile < range.end) load(key + kTile, turn ^ 1);
    copy_async_commit();
    if (idle) continue;
    const T* tile = shared + turn * 2 * kElements;
    attend<kGeneral>(problem, place, query, tile, tile + kElements, key, range.end, softmax);
  }
  copy_async_wait<0>();
  if (!idle) finish<kGeneral, T>(problem, place, layout, softmax);
}

template <class T>
void plan_for_type(const ForwardProblem& problem, Plan<ForwardProblem>& plan) {
  with_width(problem.width, [&](auto width) {
    constexpr int kWidth = decltype(width)::value;
    const bool plain = is_plain(problem);
    plan.function =
        plain ? attention_forward<T, kWidth, false> : attention_forward<T, kWidth, true>;
    plan.kernel = plain ? "tensor cores" : "tensor cores, general scores";
    plan.shared_bytes = std::int64_t{4} * kTile * kRowStride<kWidth> * sizeof(T);
  });
}

Plan<ForwardProblem> plan_for(const ForwardProblem& problem, const Chip& chip) {
  if (problem.element == Element::f32 || problem.width % 8 != 0) {
    return plan_scalar_forward(problem);
  }
  Plan<ForwardProblem> plan;
  plan.unsupported = common_limits(problem, kTile, problem.queries);
  if (problem.element == Element::bf16) plan_for_type<BFloat16>(problem, plan);
  if (problem.element == Element::f16) plan_for_type<Float16>(problem, plan);
  if (plan.shared_bytes > chip.shared_bytes) return plan_scalar_forward(problem);
  plan.threads = kThreads;
  plan.blocks = problem.batch * problem.heads * ((problem.queries + kTile - 1) / kTile);
  plan.layout = {rows_in_packets(problem.q, problem.q_strides) &&
                     rows_in_packets(problem.k, problem.k_strides) &&
                     rows_in_packets(problem.v, problem.v_strides),
                 rows_in_pairs(problem.out, problem.out_strides)};
  return plan;
}

}  // namespace

Choice supports(const ForwardProblem& problem, const Chip& chip) { return plan_for(problem, chip); }

const char* launch(const ForwardProblem& problem, const Chip& chip, Stream stream) {
  return start(plan_for(problem, chip), problem, stream);
}

}  // namespace vitascope::kernels::cuda
