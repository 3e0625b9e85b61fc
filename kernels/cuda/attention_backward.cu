// The backward pass by tensor cores: bfloat16 and float16. A block has 4 warps; a warp keeps 16
// rows of one side, with the sums of their gradients, in registers, while tiles of the other side
// take turns in two places of shared memory. Scores are made anew, 16 x 16 at a time, and are at
// once what the products for the gradients want.
#include "kernels/cuda/backward.cuh"
#include "kernels/cuda/backward_products.cuh"
#include "kernels/cuda/dispatch.cuh"
#include "kernels/cuda/tile.cuh"

namespace vitascope::kernels::cuda {
namespace {

constexpr int kRows = 64, kThreads = 128;  // of the side that a block keeps
constexpr int kTile = 32;                  // rows of the other side

/// Row sums of dout * out for the two rows of a lane; each of 4 lanes takes a quarter.
template <class T>
__device__ __forceinline__ void find_delta(const BackwardTask& task, const Place& place,
                                           float (&delta)[2]) {
  const int lane = static_cast<int>(threadIdx.x) % 32;
#pragma unroll
  for (int r = 0; r < 2; ++r) {
    const std::int64_t query = place.row + lane / 4 + 8 * r;
    float sum = 0;
    if (query < task.queries) {
      const T* out =
          static_cast<const T*>(task.out) + task.out_strides.offset(place.batch, place.head, query);
      const T* dout = static_cast<const T*>(task.dout) +
                      task.dout_strides.offset(place.batch, place.head, query);
      for (int d = lane % 4; d < task.width; d += 4) sum += to_float(out[d]) * to_float(dout[d]);
    }
    sum += __shfl_xor_sync(~0u, sum, 1);
    sum += __shfl_xor_sync(~0u, sum, 2);
    delta[r] = sum;
    if (lane % 4 == 0 && query < task.queries) {
      task.delta[(place.batch * task.heads + place.head) * task.queries + query] = sum;
    }
  }
}

/// q, out, dout [B, H, Nq, D], k, v [B, H, Nk, D], lse [B, H, Nq] -> dq [B, H, Nq, D], delta.
template <class T, int kWidth, bool kGeneral>
__global__ void __launch_bounds__(kThreads)
    attention_backward_queries(const __grid_constant__ BackwardTask task, const Layout layout) {
  constexpr int kKept = kRows * kRowStride<kWidth>, kElements = kTile * kRowStride<kWidth>;
  // [q, dout][64 rows], and over them [2 turns][k, v][32 rows]
  T* const shared = reinterpret_cast<T*>(shared_memory());
  static_assert(2 * kKept == 4 * kElements);
  Place place = place_of(task, blockIdx.x, task.queries, kRows);
  load_tile<kWidth, kRows, kThreads>(
      shared, rows_at<T>(task, place, task.q, task.q_strides, layout.packets), place.row,
      task.queries);
  load_tile<kWidth, kRows, kThreads>(
      shared + kKept, rows_at<T>(task, place, task.dout, task.dout_strides, layout.packets),
      place.row, task.queries);
  copy_async_commit();
  copy_async_wait<0>();
  __syncthreads();
  const Kept<kWidth, T> query(shared), dout(shared + kKept);
  __syncthreads();  // all are in registers: their place is free

  const Range range =
      kGeneral ? keys_of(task, place.batch, place.row, place.row + kRows - 1) : Range{0, task.keys};
  const Rows<T> keys = rows_at<T>(task, place, task.k, task.k_strides, layout.packets);
  const Rows<T> values = rows_at<T>(task, place, task.v, task.v_strides, layout.packets);
  const auto load = [&](std::int64_t key, int turn) {
    T* tile = shared + turn * 2 * kElements;
    load_tile<kWidth, kTile, kThreads>(tile, keys, key, range.end);
    load_tile<kWidth, kTile, kThreads>(tile + kElements, values, key, range.end);
  };
  if (range.begin < range.end) load(range.begin, 0);
  copy_async_commit();

  const int lane = static_cast<int>(threadIdx.x) % 32;
  place.row += threadIdx.x / 32 * 16;
  const bool idle = place.row >= task.queries;  // a warp behind the last query only loads
  float delta[2];
  find_delta<T>(task, place, delta);
  const float lse[2] = {safe_lse(task, place, place.row + lane / 4),
                        safe_lse(task, place, place.row + lane / 4 + 8)};
  float sums[1][kWidth / 8][4] = {};
  int turn = 0;
  for (std::int64_t key = range.begin; key < range.end; key += kTile, turn ^= 1) {
    copy_async_wait<0>();
    __syncthreads();  // this tile has come, and nobody reads the other any more
    if (key + kTile < range.end) load(key + kTile, turn ^ 1);
    copy_async_commit();
    if (idle) continue;
    const T* tile = shared + turn * 2 * kElements;
#pragma unroll
    for (int j = 0; j < kTile; j += 16) {
      if (key + j >= range.end) continue;
      Products<> products;
      multiply_rows<kWidth>(products.scores, query, tile, j);
      multiply_rows<kWidth>(products.gradients, dout, tile + kElements, j);
      if (!kGeneral && range.end - key - j < 16) {
        hide_columns(products.scores[0], range.end - key - j);
      }
      weigh<kGeneral>(
          task, place, products.scores[0], products.gradients[0],
          [&](int row, int column) {
            return Pair{place.row + row, key + j + column};
          },
          [&](int, int c) { return lse[c / 2]; }, [&](int, int c) { return delta[c / 2]; });
      std::uint32_t gradients[1][4];
      round_product<T>(gradients[0], products.gradients[0]);
      add_products<kGeneral, kWidth>(sums, gradients, tile, j);
    }
  }
  copy_async_wait<0>();
#pragma unroll
  for (int r = 0; r < 2; ++r) {
    const std::int64_t row = place.row + lane / 4 + 8 * r;
    if (row >= task.queries) continue;
    store_row(static_cast<T*>(task.dq) + task.dq_strides.offset(place.batch, place.head, row),
              sums[0], r, task.scale, static_cast<int>(task.width), layout.pairs);
  }
}

/// Whether blocks of keys hold v in registers.
template <int kWidth>
constexpr bool kHoldsValues = kWidth <= 96;

/// What the queries of a tile bring besides their rows.
struct QueryNumbers {
  float lse[kTile], delta[kTile];
};

/// q, dout [B, H, Nq, D], k, v [B, H, Nk, D], lse, delta [B, H, Nq] -> dk, dv [B, H, Nk, D].
template <class T, int kWidth, bool kGeneral>
__global__ void __launch_bounds__(kThreads)
    attention_backward_keys(const __grid_constant__ BackwardTask task, const Layout layout) {
  constexpr int kKept = kRows * kRowStride<kWidth>, kElements = kTile * kRowStride<kWidth>;
  // Over k and v [64 rows] come [2 turns][q, dout][32 rows]; then [2 turns] of numbers. Registers
  // are too few for the widest v, which stays in a place of its own in front.
  constexpr bool kHeld = kHoldsValues<kWidth>;
  T* const shared = reinterpret_cast<T*>(shared_memory());
  T* const turns = shared + (kHeld ? 0 : kKept);
  T* const value_tile = kHeld ? turns + kKept : shared;
  auto* const numbers = reinterpret_cast<QueryNumbers*>(turns + 2 * kKept);
  Place place = place_of(task, blockIdx.x, task.keys, kRows);
  load_tile<kWidth, kRows, kThreads>(
      turns, rows_at<T>(task, place, task.k, task.k_strides, layout.packets), place.row, task.keys);
  load_tile<kWidth, kRows, kThreads>(
      value_tile, rows_at<T>(task, place, task.v, task.v_strides, layout.packets), place.row,
      task.keys);
  copy_async_commit();
  copy_async_wait<0>();
  __syncthreads();
  const Kept<kWidth, T> key(turns);
  const Kept<kWidth, T, kHeld> value(value_tile);
  __syncthreads();  // what is in registers has left its place

  const Range range = kGeneral ? queries_of(task, place.batch, place.row, place.row + kRows - 1)
                               : Range{0, task.queries};
  const Rows<T> queries = rows_at<T>(task, place, task.q, task.q_strides, layout.packets);
  const Rows<T> douts = rows_at<T>(task, place, task.dout, task.dout_strides, layout.packets);
  const std::int64_t plane = (place.batch * task.heads + place.head) * task.queries;
  const auto load = [&](std::int64_t query, int turn) {
    T* tile = turns + turn * 2 * kElements;
    load_tile<kWidth, kTile, kThreads>(tile, queries, query, task.queries);
    load_tile<kWidth, kTile, kThreads>(tile + kElements, douts, query, task.queries);
    for (int i = static_cast<int>(threadIdx.x); i < kTile; i += kThreads) {
      numbers[turn].lse[i] = safe_lse(task, place, query + i);
      numbers[turn].delta[i] = query + i < task.queries ? task.delta[plane + query + i] : 0;
    }
  };
  if (range.begin < range.end) load(range.begin, 0);
  copy_async_commit();

  place.row += threadIdx.x / 32 * 16;
  const bool idle = place.row >= task.keys;  // a warp behind the last key only loads
  KeySums<kWidth> sums;
  int turn = 0;
  for (std::int64_t query = range.begin; query < range.end; query += kTile, turn ^= 1) {
    copy_async_wait<0>();
    __syncthreads();  // this tile has come, and nobody reads the other any more
    if (query + kTile < range.end) load(query + kTile, turn ^ 1);
    copy_async_commit();
    if (idle) continue;
    const T* tile = turns + turn * 2 * kElements;
#pragma unroll
    for (int i = 0; i < kTile; i += 16) {
      if (query + i >= range.end) continue;
      add_to_keys<kGeneral>(
          task, place, key, value, tile, tile + kElements, i, sums,
          [&](int row, int column) {
            return Pair{query + i + column, place.row + row};
          },
          [&](int n, int c) { return numbers[turn].lse[i + column_of_element(n, c)]; },
          [&](int n, int c) { return numbers[turn].delta[i + column_of_element(n, c)]; },
          [](int, const auto&) {});
    }
  }
  copy_async_wait<0>();
  store_key_sums<T>(task, place, sums, layout.pairs);
}

template <class T>
void plan_for_type(const BackwardProblem& problem, BackwardPlan& plan) {
  with_width(problem.width, [&](auto width) {
    constexpr int kWidth = decltype(width)::value;
    const bool plain = is_plain(problem);
    plan.queries.function = plain ? attention_backward_queries<T, kWidth, false>
                                  : attention_backward_queries<T, kWidth, true>;
    plan.keys.function = plain ? attention_backward_keys<T, kWidth, false>
                               : attention_backward_keys<T, kWidth, true>;
    plan.queries.kernel = plain ? "tensor cores" : "tensor cores, general scores";
    plan.queries.shared_bytes = std::int64_t{2} * kRows * kRowStride<kWidth> * sizeof(T);
    plan.keys.shared_bytes =
        std::int64_t{kHoldsValues<kWidth> ? 2 : 3} * kRows * kRowStride<kWidth> * sizeof(T) +
        std::int64_t{2} * sizeof(QueryNumbers);
  });
}

BackwardPlan plan_for(const BackwardProblem& problem, const Chip& chip) {
  const Plan<BackwardTask> resident = plan_resident_backward(problem, chip);
  if (resident.function != nullptr) return {resident, {}};
  if (problem.element == Element::f32 || problem.width % 8 != 0) {
    return plan_scalar_backward(problem);
  }
  BackwardPlan plan;
  if (problem.element == Element::bf16) plan_for_type<BFloat16>(problem, plan);
  if (problem.element == Element::f16) plan_for_type<Float16>(problem, plan);
  if (plan.keys.shared_bytes > chip.shared_bytes) return plan_scalar_backward(problem);
  plan.queries.unsupported = common_limits(problem, kRows, problem.queries);
  plan.keys.unsupported = common_limits(problem, kRows, problem.keys);
  plan.queries.threads = plan.keys.threads = kThreads;
  const std::int64_t planes = problem.batch * problem.heads;
  plan.queries.blocks = planes * ((problem.queries + kRows - 1) / kRows);
  plan.keys.blocks = planes * ((problem.keys + kRows - 1) / kRows);
  plan.queries.layout = plan.keys.layout = layout_of(problem);
  return plan;
}

}  // namespace

Choice supports(const BackwardProblem& problem, const Chip& chip) {
  const BackwardPlan plan = plan_for(problem, chip);
  Choice choice = plan.queries;
  if (choice.unsupported == nullptr) choice.unsupported = plan.keys.unsupported;
  return choice;
}

const char* launch(const BackwardProblem& problem, float* delta, const Chip& chip, Stream stream) {
  const BackwardPlan plan = plan_for(problem, chip);
  if (plan.keys.unsupported != nullptr) return plan.keys.unsupported;
  const BackwardTask task{problem, delta};
  const char* refused = start(plan.queries, task, stream);
  return refused != nullptr ? refused : start(plan.keys, task, stream);
}

}  // namespace vitascope::kernels::cuda
