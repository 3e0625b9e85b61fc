// The forward pass by tensor cores: softmax(scale q k^T + bias) v without ever writing the scores
// (FlashAttention-2, arXiv:2307.08691). Here for any number of keys, by tiles of them;
// attention_forward_resident.cu has those that fit at once.
//
// A block has 64 or 80 queries of one (batch, head); a warp keeps 16 of them in registers. Tiles of
// 64 keys and values take turns in two places of shared memory: while one is worked on, the next is
// under way. Scores stay in registers: what the first product leaves is what the second wants. Of
// the last tile only as many steps of 16 keys are done as there are keys.
#include "kernels/cuda/attention.cuh"
#include "kernels/cuda/forward_products.cuh"

namespace vitascope::kernels::cuda {
namespace {

constexpr int kTile = 64, kSteps = kTile / 16;  // keys

/// Warps of a block, with 16 queries each. General scores always take 4; plain ones take 5 where
/// that leaves no more warps without queries. For 64 k + 1 queries it does: the last one then has a
/// warp of its own, and no block, which would fetch all keys and values for it. N = 577 takes 8
/// blocks with 3 idle warps, N = 1025 takes 13 with none; 4 warps and a fifth for that query alone
/// would be 9 with 8 and 16 with 15. Beyond 96 columns a multiprocessor has registers for two
/// blocks of 4, or one of 5.
constexpr int kFewWarps = 4, kMoreWarps = 5;

/// Blocks that a multiprocessor is to have registers for; 0 leaves it to the compiler, which finds
/// room for 4 narrow plain ones by itself, but spills when it is told to.
template <int kWidth, int kWarps, bool kGeneral>
constexpr int blocks_at_once() {
  if (kWarps == kMoreWarps) return kWidth > 64 ? 2 : 3;
  if (kWidth > 80) return kWidth > 96 || kGeneral ? 2 : 3;
  return kWidth > 64 || kGeneral ? 3 : 0;
}

/// Calls `change(query, key, value, number)` for each element of a warp's fragments.
template <class Change>
__device__ __forceinline__ void for_each_score(Scores<kSteps>& scores, std::int64_t query,
                                               std::int64_t key, const Change& change) {
  const int lane = static_cast<int>(threadIdx.x) % 32;
#pragma unroll
  for (int n = 0; n < 2 * kSteps; ++n) {
#pragma unroll
    for (int c = 0; c < 4; ++c) {
      float& value = scores[n / 2][n % 2][c];
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
                                       const Query<kWidth>& query, const T* keys, const T* values,
                                       std::int64_t key, std::int64_t end,
                                       Softmax<kWidth>& softmax) {
  const int count = end - key >= kTile ? kTile : static_cast<int>(end - key);
  Scores<kSteps> scores;
  multiply_keys<kWidth, kSteps, 0>(scores, query, keys, count);
  if constexpr (kGeneral) {
    const std::uint32_t seen = bits_of(place.row, key, [&](std::int64_t i, std::int64_t j) {
      return j < end && sees(problem, place, i, j);
    });
    for_each_score(scores, place.row, key, [&](auto i, auto j, float product, int number) {
      return score_of(problem, place, i, j, product, seen >> number & 1);
    });
  }
  exponentiate<kWidth, kSteps, 0>(scores, count, softmax,
                                  kGeneral ? kLog2e : problem.scale * kLog2e);
  if (kGeneral && problem.dropout.probability > 0) {
    const std::uint32_t kept = bits_of(place.row, key, [&](std::int64_t i, std::int64_t j) {
      return keeps(problem, place, i, j);
    });
    for_each_score(scores, 0, 0, [&](auto, auto, float weight, int number) {
      return kept >> number & 1 ? weight : 0;
    });
  }
  multiply_values<kGeneral, kWidth, kSteps, 0>(scores, values, count, softmax);
}

/// q [B, H, Nq, D], k, v [B, H, Nk, D] -> out [B, H, Nq, D], lse [B, H, Nq]; D a multiple of 8.
/// \tparam kGeneral with masks, bias, dropout or an unusual scale
template <class T, int kWidth, int kWarps, bool kGeneral>
__global__ void __launch_bounds__(32 * kWarps, blocks_at_once<kWidth, kWarps, kGeneral>())
    attention_forward(const __grid_constant__ ForwardProblem problem, const Layout layout) {
  constexpr int kThreads = 32 * kWarps, kQueries = 16 * kWarps;
  constexpr int kElements = kTile * kRowStride<kWidth>;
  // [2 turns][keys, values][tile], then a row of k and a row of v
  T* const shared = reinterpret_cast<T*>(shared_memory());
  T* const peeled_key = shared + 4 * kElements;
  Place place = place_of(problem, blockIdx.x, problem.queries, kQueries);
  const Rows<T> queries = rows_of<T>(problem, place, layout, problem.q, problem.q_strides);
  const Rows<T> keys = rows_of<T>(problem, place, layout, problem.k, problem.k_strides);
  const Rows<T> values = rows_of<T>(problem, place, layout, problem.v, problem.v_strides);
  const bool peeled = !kGeneral && is_peeled(problem.keys);
  const Range range = kGeneral ? keys_of(problem, place.batch, place.row, place.row + kQueries - 1)
                               : Range{peeled, problem.keys};
  Rows<T> next_keys = keys, next_values = values;
  next_keys.first += range.begin * keys.stride;
  next_values.first += range.begin * values.stride;
  const auto load_next = [&](std::int64_t left, int turn) {
    T* tile = shared + turn * 2 * kElements;
    load_tile<kWidth, kTile, kThreads>(tile, next_keys, 0, left);
    load_tile<kWidth, kTile, kThreads>(tile + kElements, next_values, 0, left);
    next_keys.first += kTile * keys.stride;
    next_values.first += kTile * values.stride;
  };

  // Queries pass through the place of the second tile of keys on their way into registers.
  load_tile<kWidth, kQueries, kThreads>(shared + 2 * kElements, queries, place.row,
                                        problem.queries);
  if (peeled) {
    load_tile<kWidth, 1, kThreads>(peeled_key, keys, 0, 1);
    load_tile<kWidth, 1, kThreads>(peeled_key + kRowStride<kWidth>, values, 0, 1);
  }
  copy_async_commit();
  if (range.begin < range.end) load_next(range.end - range.begin, 0);
  copy_async_commit();
  copy_async_wait<1>();
  __syncthreads();
  const int warp_row = static_cast<int>(threadIdx.x) / 32 * 16;
  Query<kWidth> query;
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
    if (key + kTile < range.end) load_next(range.end - key - kTile, turn ^ 1);
    copy_async_commit();
    if (idle) continue;
    const T* tile = shared + turn * 2 * kElements;
    attend<kGeneral>(problem, place, query, tile, tile + kElements, key, range.end, softmax);
  }
  copy_async_wait<0>();
  if (idle) return;
  // Last: were it first, two more registers would be wanted, and fewer blocks have them.
  if (peeled) {
    add_key<kWidth>(query, peeled_key, peeled_key + kRowStride<kWidth>, problem.scale * kLog2e,
                    softmax);
  }
  finish<kGeneral, T>(problem, place, layout, softmax);
}

/// Whether blocks of more warps leave as few of them without queries.
bool more_warps_suit(std::int64_t queries) {
  const std::int64_t tiles = (queries + 15) / 16;
  const auto all = [&](std::int64_t warps) { return (tiles + warps - 1) / warps * warps; };
  return all(kMoreWarps) <= all(kFewWarps);
}

template <class T>
void plan_for_type(const ForwardProblem& problem, Plan<ForwardProblem>& plan) {
  with_width(problem.width, [&](auto width) {
    constexpr int kWidth = decltype(width)::value;
    const bool plain = is_plain(problem);
    plan.kernel = plain ? "tensor cores" : "tensor cores, general scores";
    plan.function = plain ? attention_forward<T, kWidth, kFewWarps, false>
                          : attention_forward<T, kWidth, kFewWarps, true>;
    plan.threads = 32 * kFewWarps;
    if constexpr (kWidth <= 96) {
      if (plain && more_warps_suit(problem.queries)) {
        plan.function = attention_forward<T, kWidth, kMoreWarps, false>;
        plan.threads = 32 * kMoreWarps;
      }
    }
    const int rows = 4 * kTile + (plain && is_peeled(problem.keys) ? 2 : 0);
    plan.shared_bytes = std::int64_t{rows} * kRowStride<kWidth> * sizeof(T);
  });
}

Plan<ForwardProblem> plan_for(const ForwardProblem& problem, const Chip& chip) {
  if (problem.element == Element::f32 || problem.width % 8 != 0) {
    return plan_scalar_forward(problem);
  }
  Plan<ForwardProblem> plan = plan_resident_forward(problem, chip);
  if (plan.unsupported == nullptr) return plan;
  if (problem.element == Element::bf16) plan_for_type<BFloat16>(problem, plan);
  if (problem.element == Element::f16) plan_for_type<Float16>(problem, plan);
  if (plan.shared_bytes > chip.shared_bytes) return plan_scalar_forward(problem);
  const std::int64_t queries = plan.threads / 2;  // of a block: 16 a warp
  plan.unsupported = common_limits(problem, queries, problem.queries);
  plan.blocks = problem.batch * problem.heads * ((problem.queries + queries - 1) / queries);
  plan.layout = layout_of(problem);
  return plan;
}

}  // namespace

Choice supports(const ForwardProblem& problem, const Chip& chip) { return plan_for(problem, chip); }

const char* launch(const ForwardProblem& problem, const Chip& chip, Stream stream) {
  return start(plan_for(problem, chip), problem, stream);
}

}  // namespace vitascope::kernels::cuda
