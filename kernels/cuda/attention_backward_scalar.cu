// The backward pass without tensor cores: float32, and widths that they cannot take. A block has
// 128 threads and keeps 16 rows of one side of one (batch, head); it goes through the other side
// 128 rows at a time. A thread has one of these rows while scores are made, and a column of the
// gradients afterwards.
#include "kernels/cuda/backward.cuh"
#include "kernels/cuda/dispatch.cuh"
#include "kernels/cuda/scalar.cuh"

namespace vitascope::kernels::cuda {
namespace {

constexpr int kWeights = kScalarThreads * kHeldStride;

/// Shared memory of a block, in floats: two sets of held rows [D][20], two of weights [128][20],
/// and lse and delta of held queries [16] each.
constexpr std::int64_t floats_of(std::int64_t width) {
  return 2 * width * kHeldStride + 2 * kWeights + 2 * kHeldRows;
}

/// Probability and gradient of the score of a pair, from the products q k and dout v.
__device__ __forceinline__ Weight weigh(const BackwardTask& task, const Place& place,
                                        std::int64_t query, std::int64_t key, float product,
                                        float gradient, float lse, float delta, bool seen) {
  const float score = score_of(task, place, query, key, product, seen);
  const bool kept = task.dropout.probability == 0 || keeps(task, place, query, key);
  return weight_of(score, lse, gradient, delta, kept ? task.dropout.kept_factor() : 0);
}

/// Row sums of dout * out for the held queries, into `delta` and into memory; 8 lanes share a row.
template <class T>
__device__ __forceinline__ void find_delta(const BackwardTask& task, const Place& place,
                                           float* delta) {
  const int row = static_cast<int>(threadIdx.x) / 8;
  const std::int64_t query = place.row + row;
  float sum = 0;
  if (query < task.queries) {
    const T* out = row_of<T>(task.out, task.out_strides, place, query, task.queries);
    const T* dout = row_of<T>(task.dout, task.dout_strides, place, query, task.queries);
    for (int d = static_cast<int>(threadIdx.x) % 8; d < task.width; d += 8) {
      sum += to_float(out[d]) * to_float(dout[d]);
    }
  }
  for (int lanes = 1; lanes < 8; lanes *= 2) sum += __shfl_xor_sync(~0u, sum, lanes);
  if (threadIdx.x % 8 != 0) return;
  delta[row] = sum;
  if (query < task.queries) {
    task.delta[(place.batch * task.heads + place.head) * task.queries + query] = sum;
  }
}

/// Writes column `threadIdx.x` of 16 rows of a gradient.
template <class T>
__device__ __forceinline__ void write_column(void* first, const Strides& strides,
                                             const Place& place, std::int64_t rows,
                                             const float (&sums)[kHeldRows], float factor) {
#pragma unroll
  for (int r = 0; r < kHeldRows; ++r) {
    if (place.row + r >= rows) continue;
    static_cast<T*>(first)[strides.offset(place.batch, place.head, place.row + r) + threadIdx.x] =
        from_float<T>(sums[r] * factor);
  }
}

__device__ __forceinline__ int rows_left(const Range& range, std::int64_t row) {
  const std::int64_t left = range.end - row;
  return static_cast<int>(left < kScalarThreads ? left : kScalarThreads);
}

/// q, out, dout [B, H, Nq, D], k, v [B, H, Nk, D], lse [B, H, Nq] -> dq [B, H, Nq, D], delta.
template <class T>
__global__ void __launch_bounds__(kScalarThreads)
    backward_queries_scalar(const __grid_constant__ BackwardTask task, const Layout) {
  const Place place = place_of(task, blockIdx.x, task.queries, kHeldRows);
  const int width = static_cast<int>(task.width), thread = static_cast<int>(threadIdx.x);
  float* const queries = reinterpret_cast<float*>(shared_memory());
  float* const douts = queries + width * kHeldStride;
  float* const weights = douts + width * kHeldStride;
  float* const lse = weights + 2 * kWeights;
  float* const delta = lse + kHeldRows;
  const auto hold = [&](float* held, const void* first, const Strides& strides) {
    hold_rows<T>(held, width, [&](int r) {
      return row_of<T>(first, strides, place, place.row + r, task.queries);
    });
  };
  hold(queries, task.q, task.q_strides);
  hold(douts, task.dout, task.dout_strides);
  find_delta<T>(task, place, delta);
  if (thread < kHeldRows) lse[thread] = safe_lse(task, place, place.row + thread);

  const Range range = keys_of(task, place.batch, place.row, place.row + kHeldRows - 1);
  float sums[kHeldRows] = {};
  for (std::int64_t first = range.begin; first < range.end; first += kScalarThreads) {
    __syncthreads();  // rows are held, and the last tile's weights have been used
    const std::int64_t key = first + thread;
    if (key < range.end) {
      float products[kHeldRows], gradients[kHeldRows];
      multiply_held(products, queries, row_of<T>(task.k, task.k_strides, place, key, task.keys),
                    width);
      multiply_held(gradients, douts, row_of<T>(task.v, task.v_strides, place, key, task.keys),
                    width);
      const unsigned seen = held_bits([&](int r) { return sees(task, place, place.row + r, key); });
#pragma unroll
      for (int r = 0; r < kHeldRows; ++r) {
        weights[thread * kHeldStride + r] = weigh(task, place, place.row + r, key, products[r],
                                                  gradients[r], lse[r], delta[r], seen >> r & 1)
                                                .gradient;
      }
    }
    __syncthreads();
    if (thread >= width) continue;
    add_weighted(sums, weights, row_of<T>(task.k, task.k_strides, place, first, task.keys) + thread,
                 task.k_strides.row, rows_left(range, first));
  }
  if (thread < width) {
    write_column<T>(task.dq, task.dq_strides, place, task.queries, sums, task.scale);
  }
}

/// q, dout [B, H, Nq, D], k, v [B, H, Nk, D], lse, delta [B, H, Nq] -> dk, dv [B, H, Nk, D].
template <class T>
__global__ void __launch_bounds__(kScalarThreads)
    backward_keys_scalar(const __grid_constant__ BackwardTask task, const Layout) {
  const Place place = place_of(task, blockIdx.x, task.keys, kHeldRows);
  const int width = static_cast<int>(task.width), thread = static_cast<int>(threadIdx.x);
  float* const keys = reinterpret_cast<float*>(shared_memory());
  float* const values = keys + width * kHeldStride;
  float* const probabilities = values + width * kHeldStride;
  float* const gradients = probabilities + kWeights;
  const auto hold = [&](float* held, const void* first, const Strides& strides) {
    hold_rows<T>(held, width,
                 [&](int r) { return row_of<T>(first, strides, place, place.row + r, task.keys); });
  };
  hold(keys, task.k, task.k_strides);
  hold(values, task.v, task.v_strides);

  const Range range = queries_of(task, place.batch, place.row, place.row + kHeldRows - 1);
  float key_sums[kHeldRows] = {}, value_sums[kHeldRows] = {};
  for (std::int64_t first = range.begin; first < range.end; first += kScalarThreads) {
    __syncthreads();  // rows are held, and the last tile's weights have been used
    const std::int64_t query = first + thread;
    if (query < range.end) {
      float scores[kHeldRows], products[kHeldRows];
      multiply_held(scores, keys, row_of<T>(task.q, task.q_strides, place, query, task.queries),
                    width);
      multiply_held(products, values,
                    row_of<T>(task.dout, task.dout_strides, place, query, task.queries), width);
      const float lse = safe_lse(task, place, query);
      const float delta =
          task.delta[(place.batch * task.heads + place.head) * task.queries + query];
      const unsigned seen =
          held_bits([&](int r) { return sees(task, place, query, place.row + r); });
#pragma unroll
      for (int r = 0; r < kHeldRows; ++r) {
        const Weight weight = weigh(task, place, query, place.row + r, scores[r], products[r], lse,
                                    delta, seen >> r & 1);
        probabilities[thread * kHeldStride + r] = weight.probability;
        gradients[thread * kHeldStride + r] = weight.gradient;
      }
    }
    __syncthreads();
    if (thread >= width) continue;
    const int count = rows_left(range, first);
    add_weighted(value_sums, probabilities,
                 row_of<T>(task.dout, task.dout_strides, place, first, task.queries) + thread,
                 task.dout_strides.row, count);
    add_weighted(key_sums, gradients,
                 row_of<T>(task.q, task.q_strides, place, first, task.queries) + thread,
                 task.q_strides.row, count);
  }
  if (thread >= width) return;
  write_column<T>(task.dk, task.dk_strides, place, task.keys, key_sums, task.scale);
  write_column<T>(task.dv, task.dv_strides, place, task.keys, value_sums, 1.0f);
}

void plan_pass(const BackwardProblem& problem, std::int64_t rows, Plan<BackwardTask>& plan) {
  plan.unsupported = common_limits(problem, kHeldRows, rows);
  plan.kernel = "scalar";
  plan.threads = kScalarThreads;
  plan.blocks = problem.batch * problem.heads * ((rows + kHeldRows - 1) / kHeldRows);
  plan.shared_bytes = floats_of(problem.width) * static_cast<std::int64_t>(sizeof(float));
}

}  // namespace

BackwardPlan plan_scalar_backward(const BackwardProblem& problem) {
  BackwardPlan plan;
  plan_pass(problem, problem.queries, plan.queries);
  plan_pass(problem, problem.keys, plan.keys);
  with_type(problem.element, [&](auto type) {
    plan.queries.function = backward_queries_scalar<decltype(type)>;
    plan.keys.function = backward_keys_scalar<decltype(type)>;
  });
  return plan;
}

}  // namespace vitascope::kernels::cuda
