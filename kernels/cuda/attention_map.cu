// Probabilities, and their gradients, of the rows that an explanation asks for: nothing else of
// [B, H, Nq, Nk] is ever in memory. A block has 128 threads, each with a key, and 16 rows of one
// (batch, head), or of one batch entry and all its heads, one after the other, for their mean.
#include "kernels/cuda/dispatch.cuh"
#include "kernels/cuda/plan.cuh"
#include "kernels/cuda/scalar.cuh"

namespace vitascope::kernels::cuda {
namespace {

/// Where a block works: `place.row` counts the rows that are asked for.
struct MapPlace {
  Place place;
  std::int64_t key;  ///< of the running thread
};

template <class Problem>
__device__ __forceinline__ MapPlace map_place(const Problem& problem, std::int64_t heads) {
  const std::int64_t key_tiles = (problem.keys + kScalarThreads - 1) / kScalarThreads;
  const std::int64_t row_tiles = (problem.row_count + kHeldRows - 1) / kHeldRows;
  const std::int64_t tile = blockIdx.x / key_tiles, plane = tile / row_tiles;
  return {{plane / heads, plane % heads, tile % row_tiles * kHeldRows},
          blockIdx.x % key_tiles * kScalarThreads + threadIdx.x};
}

/// The query that row r of a block's 16 asks for; -1 behind the last.
template <class Problem>
__device__ __forceinline__ std::int64_t query_of(const Problem& problem, std::int64_t row) {
  if (row >= problem.row_count) return -1;
  return problem.rows == nullptr ? row : problem.rows[row];
}

/// Holds the rows of q or dout [B, H, Nq, D] that a block asks for.
template <class T, class Problem>
__device__ __forceinline__ void hold_asked(float* held, const Problem& problem, const Place& place,
                                           const void* first, const Strides& strides) {
  hold_rows<T>(held, static_cast<int>(problem.width), [&](int r) {
    const std::int64_t query = query_of(problem, place.row + r);
    return query < 0 ? nullptr : row_of<T>(first, strides, place, query, problem.queries);
  });
}

/// Bit r: whether row r's query sees the key.
template <class Problem>
__device__ __forceinline__ unsigned seen_by(const Problem& problem, const MapPlace& at) {
  return held_bits([&](int r) {
    const std::int64_t query = query_of(problem, at.place.row + r);
    return query >= 0 && sees(problem, at.place, query, at.key);
  });
}

/// Adds the probabilities of one head to `sums`.
template <class T>
__device__ __forceinline__ void add_probabilities(const MapProblem& problem, const MapPlace& at,
                                                  const float* held, float (&sums)[kHeldRows]) {
  const Place& place = at.place;
  float products[kHeldRows];
  multiply_held(products, held,
                row_of<T>(problem.k, problem.k_strides, place, at.key, problem.keys),
                static_cast<int>(problem.width));
  const unsigned seen = seen_by(problem, at);
#pragma unroll
  for (int r = 0; r < kHeldRows; ++r) {
    if ((seen >> r & 1) == 0) continue;
    const std::int64_t query = query_of(problem, place.row + r);
    const float score = score_of(problem, place, query, at.key, products[r], true);
    const float lse =
        problem.lse[(place.batch * problem.heads + place.head) * problem.queries + query];
    // A query that sees nothing may still be seen here, by a bias of -inf.
    if (score > VITASCOPE_MINUS_INFINITY) sums[r] += exp2_approx((score - lse) * kLog2e);
    if (score != score) sums[r] = score;
  }
}

/// Writes a thread's column of a map [..., R, Nk].
__device__ __forceinline__ void write_column(float* map, std::int64_t plane, std::int64_t rows,
                                             std::int64_t keys, const MapPlace& at,
                                             const float (&values)[kHeldRows]) {
#pragma unroll
  for (int r = 0; r < kHeldRows; ++r) {
    const std::int64_t row = at.place.row + r;
    if (row < rows) map[(plane * rows + row) * keys + at.key] = values[r];
  }
}

/// q [B, H, Nq, D], k [B, H, Nk, D], lse [B, H, Nq] -> map [B, H or 1, R, Nk].
template <class T>
__global__ void __launch_bounds__(kScalarThreads)
    attention_map(const __grid_constant__ MapProblem problem, const Layout) {
  float* const held = reinterpret_cast<float*>(shared_memory());  // [D][20]
  const std::int64_t heads = problem.head_mean ? 1 : problem.heads;
  MapPlace at = map_place(problem, heads);
  const std::int64_t plane = at.place.batch * heads + at.place.head;
  const std::int64_t heads_here = problem.head_mean ? problem.heads : 1;
  float sums[kHeldRows] = {};
  for (std::int64_t head = 0; head < heads_here; ++head, ++at.place.head) {
    __syncthreads();  // the rows of the head before have been used
    hold_asked<T>(held, problem, at.place, problem.q, problem.q_strides);
    __syncthreads();
    if (at.key < problem.keys) add_probabilities<T>(problem, at, held, sums);
  }
  if (at.key >= problem.keys) return;
  const float share = 1.0f / static_cast<float>(heads_here);
#pragma unroll
  for (int r = 0; r < kHeldRows; ++r) sums[r] *= share;
  write_column(problem.map, plane, problem.row_count, problem.keys, at, sums);
}

/// dout [B, H, Nq, D], v [B, H, Nk, D] -> gradient [B, H, R, Nk] = dout v^T, 0 for hidden keys.
template <class T>
__global__ void __launch_bounds__(kScalarThreads)
    attention_map_gradient(const __grid_constant__ MapGradientProblem problem, const Layout) {
  float* const held = reinterpret_cast<float*>(shared_memory());  // [D][20]
  const MapPlace at = map_place(problem, problem.heads);
  hold_asked<T>(held, problem, at.place, problem.dout, problem.dout_strides);
  __syncthreads();
  if (at.key >= problem.keys) return;
  float products[kHeldRows];
  multiply_held(products, held,
                row_of<T>(problem.v, problem.v_strides, at.place, at.key, problem.keys),
                static_cast<int>(problem.width));
  const unsigned seen = seen_by(problem, at);
#pragma unroll
  for (int r = 0; r < kHeldRows; ++r) {
    const std::int64_t query = query_of(problem, at.place.row + r);
    // Of the score only whether a bias hides it.
    if ((seen >> r & 1) == 0 ||
        score_of(problem, at.place, query, at.key, 0, true) == VITASCOPE_MINUS_INFINITY) {
      products[r] = 0;
    }
  }
  write_column(problem.gradient, at.place.batch * problem.heads + at.place.head, problem.row_count,
               problem.keys, at, products);
}

/// What both kernels have alike: blocks for planes of [R, Nk].
template <class Problem>
Plan<Problem> plan_for(const Problem& problem, std::int64_t planes) {
  Plan<Problem> plan;
  const std::int64_t key_tiles = (problem.keys + kScalarThreads - 1) / kScalarThreads;
  const std::int64_t row_tiles = (problem.row_count + kHeldRows - 1) / kHeldRows;
  plan.unsupported = common_limits(problem, 1, key_tiles * row_tiles);
  plan.kernel = "scalar";
  plan.threads = kScalarThreads;
  plan.blocks = planes * key_tiles * row_tiles;
  plan.shared_bytes = problem.width * kHeldStride * static_cast<std::int64_t>(sizeof(float));
  return plan;
}

Plan<MapProblem> plan_for(const MapProblem& problem) {
  auto plan = plan_for(problem, problem.batch * (problem.head_mean ? 1 : problem.heads));
  with_type(problem.element, [&](auto type) { plan.function = attention_map<decltype(type)>; });
  return plan;
}

Plan<MapGradientProblem> plan_for(const MapGradientProblem& problem) {
  auto plan = plan_for(problem, problem.batch * problem.heads);
  with_type(problem.element,
            [&](auto type) { plan.function = attention_map_gradient<decltype(type)>; });
  return plan;
}

}  // namespace

Choice supports(const MapProblem& problem, const Chip&) { return plan_for(problem); }
Choice supports(const MapGradientProblem& problem, const Chip&) { return plan_for(problem); }

const char* launch(const MapProblem& problem, const Chip&, Stream stream) {
  return start(plan_for(problem), problem, stream);
}
const char* launch(const MapGradientProblem& problem, const Chip&, Stream stream) {
  return start(plan_for(problem), problem, stream);
}

}  // namespace vitascope::kernels::cuda
