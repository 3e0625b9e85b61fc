// The forward pass without tensor cores: float32, and widths that they cannot take. A block has 128
// threads and 16 queries of one (batch, head), and goes through the keys 128 at a time: a thread
// has a key while scores are made, an eighth of a query's scores for the softmax, and a column of v
// for the second product.
#include "kernels/cuda/dispatch.cuh"
#include "kernels/cuda/plan.cuh"
#include "kernels/cuda/scalar.cuh"

namespace vitascope::kernels::cuda {
namespace {

/// Shared memory of a block, in floats: held queries [D][20], weights [128 keys][20], and what each
/// query's sums are multiplied by [16].
constexpr int kWeights = kScalarThreads * kHeldStride;
constexpr std::int64_t floats_of(std::int64_t width) {
  return width * kHeldStride + kWeights + kHeldRows;
}

/// Makes weights of a tile's scores, [key][query], and brings the running softmax of one query up
/// to date; 8 neighbouring lanes share a query.
struct RowSoftmax {
  float maximum = VITASCOPE_MINUS_INFINITY, sum = 0;

  /// \return what earlier sums are to be multiplied by
  __device__ float update(float* scores, int row) {
    const int first = static_cast<int>(threadIdx.x) % 8;
    float largest = maximum;
    for (int j = first; j < kScalarThreads; j += 8) {
      largest = fmaxf(largest, scores[j * kHeldStride + row]);
    }
    for (int lanes = 1; lanes < 8; lanes *= 2) {
      largest = fmaxf(largest, __shfl_xor_sync(~0u, largest, lanes));
    }
    const float base = largest == VITASCOPE_MINUS_INFINITY ? 0 : largest;
    const float correction = exp2_approx((maximum - base) * kLog2e);
    maximum = largest;
    sum *= correction;
    for (int j = first; j < kScalarThreads; j += 8) {
      float& score = scores[j * kHeldStride + row];
      score = exp2_approx((score - base) * kLog2e);
      sum += score;
    }
    return correction;
  }

  __device__ float total() const {
    float all = sum;
    for (int lanes = 1; lanes < 8; lanes *= 2) all += __shfl_xor_sync(~0u, all, lanes);
    return all;
  }
};

/// Scores of the thread's key with the held queries, into weights [key][query].
template <class T>
__device__ void write_scores(const ForwardProblem& problem, const Place& place, const float* held,
                             std::int64_t key, std::int64_t end, float* weights) {
  float products[kHeldRows];
  unsigned seen = 0;
  if (key < end) {
    multiply_held(products, held, row_of<T>(problem.k, problem.k_strides, place, key, end),
                  static_cast<int>(problem.width));
    seen = held_bits([&](int r) { return sees(problem, place, place.row + r, key); });
  }
#pragma unroll
  for (int r = 0; r < kHeldRows; ++r) {
    weights[threadIdx.x * kHeldStride + r] =
        score_of(problem, place, place.row + r, key, products[r], seen >> r & 1);
  }
}

/// Takes away the weights that dropout does not keep.
__device__ void drop_weights(const ForwardProblem& problem, const Place& place, std::int64_t key,
                             float* weights) {
  const unsigned kept = held_bits([&](int r) { return keeps(problem, place, place.row + r, key); });
  for (int r = 0; r < kHeldRows; ++r) {
    if ((kept >> r & 1) == 0) weights[threadIdx.x * kHeldStride + r] = 0;
  }
}

/// q [B, H, Nq, D], k, v [B, H, Nk, D] -> out [B, H, Nq, D], lse [B, H, Nq].
template <class T>
__global__ void __launch_bounds__(kScalarThreads)
    attention_forward_scalar(const __grid_constant__ ForwardProblem problem, const Layout) {
  const Place place = place_of(problem, blockIdx.x, problem.queries, kHeldRows);
  const int width = static_cast<int>(problem.width), thread = static_cast<int>(threadIdx.x);
  float* const held = reinterpret_cast<float*>(shared_memory());
  float* const weights = held + width * kHeldStride;
  float* const factors = weights + kWeights;
  hold_rows<T>(held, width, [&](int r) {
    return row_of<T>(problem.q, problem.q_strides, place, place.row + r, problem.queries);
  });
  const Range range = keys_of(problem, place.batch, place.row, place.row + kHeldRows - 1);
  const int row = thread / 8;  // of the softmax
  RowSoftmax softmax;
  float sums[kHeldRows] = {};  // of column `thread` of out

  for (std::int64_t key = range.begin; key < range.end; key += kScalarThreads) {
    __syncthreads();  // rows are held, and the last tile's weights have been used
    write_scores<T>(problem, place, held, key + thread, range.end, weights);
    __syncthreads();
    const float correction = softmax.update(weights, row);
    if (thread % 8 == 0) factors[row] = correction;
    __syncthreads();
    if (problem.dropout.probability > 0) {
      drop_weights(problem, place, key + thread, weights);
      __syncthreads();
    }
    if (thread >= width) continue;
#pragma unroll
    for (int r = 0; r < kHeldRows; ++r) sums[r] *= factors[r];
    const std::int64_t left = range.end - key;
    add_weighted(
        sums, weights, row_of<T>(problem.v, problem.v_strides, place, key, range.end) + thread,
        problem.v_strides.row, static_cast<int>(left < kScalarThreads ? left : kScalarThreads));
  }

  __syncthreads();
  const float total = softmax.total();
  const std::int64_t query = place.row + row;
  if (thread % 8 == 0) {
    factors[row] = total == 0 ? 0 : problem.dropout.kept_factor() / total;
    if (query < problem.queries) {
      problem.lse[(place.batch * problem.heads + place.head) * problem.queries + query] =
          total == 0 ? VITASCOPE_MINUS_INFINITY : softmax.maximum + logf(total);
    }
  }
  __syncthreads();
  if (thread >= width) return;
#pragma unroll
  for (int r = 0; r < kHeldRows; ++r) {
    if (place.row + r >= problem.queries) continue;
    static_cast<T*>(
        problem.out)[problem.out_strides.offset(place.batch, place.head, place.row + r) + thread] =
        from_float<T>(sums[r] * factors[r]);
  }
}

}  // namespace

Plan<ForwardProblem> plan_scalar_forward(const ForwardProblem& problem) {
  Plan<ForwardProblem> plan;
  plan.unsupported = common_limits(problem, kHeldRows, problem.queries);
  plan.kernel = "scalar";
  with_type(problem.element,
            [&](auto type) { plan.function = attention_forward_scalar<decltype(type)>; });
  plan.threads = kScalarThreads;
  plan.blocks = problem.batch * problem.heads * ((problem.queries + kHeldRows - 1) / kHeldRows);
  plan.shared_bytes = floats_of(problem.width) * static_cast<std::int64_t>(sizeof(float));
  return plan;
}

}  // namespace vitascope::kernels::cuda
