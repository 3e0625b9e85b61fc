// The forward pass by tensor cores where all keys and values of a (batch, head) fit: into shared
// memory, and a warp's scores of them into registers. So there is one maximum and one pass of
// exponentials.
//
// Keys and values come once, as two groups of copies: the first product needs no values, and
// begins without them. Then nobody waits for anybody: each warp takes 16 queries after another.
#include "kernels/cuda/attention.cuh"
#include "kernels/cuda/forward_products.cuh"

namespace vitascope::kernels::cuda {
namespace {

/// Warps that a multiprocessor has registers for when a lane takes all that it may, 255.
constexpr int kWarpsAtOnce = 8;
/// Tiles of 16 queries that a warp takes one after another, at most.
constexpr std::int64_t kRounds = 3;

/// Steps of 16 keys that a warp has scores of: enough for 50 tokens, for 197, for 257 and 288. A
/// step takes 8 registers; beside the sums of more than 96 columns there is no room for the most.
constexpr int kFewSteps = 4, kMoreSteps = 13, kMostSteps = 18;
constexpr int steps_at_most(int width) { return width > 96 ? kMoreSteps : kMostSteps; }

/// Steps of 16 keys behind a peeled one.
VITASCOPE_HOST_DEVICE std::int64_t steps_of(std::int64_t keys) {
  return (keys - is_peeled(keys) + 15) / 16;
}

/// Rows of shared memory that hold k, and as many v: the last step's are all there.
VITASCOPE_HOST_DEVICE std::int64_t resident_rows(std::int64_t keys) {
  return 16 * steps_of(keys) + is_peeled(keys);
}

/// Fragments of queries `row`.. straight from global memory; those from problem.queries on are 0.
template <int kWidth, class T>
__device__ __forceinline__ void load_query(Query<kWidth>& query, const Rows<T>& from,
                                           std::int64_t row, std::int64_t end) {
  const int lane = static_cast<int>(threadIdx.x) % 32;
#pragma unroll
  for (int r = 0; r < 2; ++r) {
    const std::int64_t i = row + lane / 4 + 8 * r;
    const T* source = from.first + (i < end ? i * from.stride : 0) + lane % 4 * 2;
#pragma unroll
    for (int n = 0; n < kWidth / 8; ++n) {
      const bool inside = i < end && 8 * n < from.width;
      query[n / 2][r + n % 2 * 2] = inside ? load_pair(source + 8 * n, from.packets) : 0;
    }
  }
}

/// q [B, H, Nq, D], k, v [B, H, Nk, D] -> out [B, H, Nq, D], lse [B, H, Nq]; D a multiple of 8.
/// \tparam kSteps of 16 keys at most, kSure of them always
template <class T, int kWidth, int kSteps, int kSure>
__global__ void __launch_bounds__(32 * kWarpsAtOnce)
    attention_forward_resident(const __grid_constant__ ForwardProblem problem,
                               const Layout layout) {
  // Tiles of 16 queries go round the warps of all blocks that share a (batch, head).
  const std::int64_t shares = gridDim.x / (problem.batch * problem.heads);
  const std::int64_t plane = blockIdx.x / shares;
  const int queries_of_block = static_cast<int>(blockDim.x) / 2;
  const int stride = static_cast<int>(shares) * queries_of_block;
  Place place{plane / problem.heads, plane % problem.heads,
              blockIdx.x % shares * queries_of_block + threadIdx.x / 32 * 16};

  const int keys = static_cast<int>(problem.keys), rows = static_cast<int>(resident_rows(keys));
  T* const key_rows = reinterpret_cast<T*>(shared_memory());  // [rows][kWidth + 8]
  T* const value_rows = key_rows + rows * kRowStride<kWidth>;
  const auto load = [&](T* to, const void* from, const Strides& strides) {
    load_rows<kWidth>(to, rows_of<T>(problem, place, layout, from, strides), 0, keys, rows,
                      static_cast<int>(blockDim.x));
    copy_async_commit();
  };
  load(key_rows, problem.k, problem.k_strides);
  load(value_rows, problem.v, problem.v_strides);
  const Rows<T> queries = rows_of<T>(problem, place, layout, problem.q, problem.q_strides);
  Query<kWidth> query;
  load_query<kWidth>(query, queries, place.row, problem.queries);
  copy_async_wait<1>();
  __syncthreads();

  const float unit = problem.scale * kLog2e;
  const int peeled = is_peeled(keys), count = keys - peeled;
  for (bool values_wait = true; values_wait || place.row < problem.queries; place.row += stride) {
    Scores<kSteps> scores;
    const bool idle = place.row >= problem.queries;
    if (!idle) {
      multiply_keys<kWidth, kSteps, kSure>(scores, query, key_rows + peeled * kRowStride<kWidth>,
                                           count);
    }
    if (values_wait) {
      copy_async_wait<0>();
      __syncthreads();
      values_wait = false;
    }
    if (idle) return;
    Softmax<kWidth> softmax;
    if (peeled) add_key<kWidth>(query, key_rows, value_rows, unit, softmax);
    load_query<kWidth>(query, queries, place.row + stride, problem.queries);  // while there is work
    exponentiate<kWidth, kSteps, kSure>(scores, count, softmax, unit);
    multiply_values<false, kWidth, kSteps, kSure>(scores, value_rows + peeled * kRowStride<kWidth>,
                                                  count, softmax);
    finish<false, T>(problem, place, layout, softmax);
  }
}

template <class T, int kWidth>
void (*kernel_for(std::int64_t steps))(ForwardProblem, Layout) {
  if (steps <= kFewSteps) return attention_forward_resident<T, kWidth, kFewSteps, 0>;
  if (steps <= kMoreSteps) return attention_forward_resident<T, kWidth, kMoreSteps, kFewSteps>;
  if constexpr (steps_at_most(kWidth) > kMoreSteps) {
    return attention_forward_resident<T, kWidth, kMostSteps, kMoreSteps>;
  }
  return nullptr;
}

/// Shares the queries of a (batch, head) out among blocks of at most `most` warps, such that few
/// warps have fewer rounds than others.
void share_out(const ForwardProblem& problem, std::int64_t most, Plan<ForwardProblem>& plan) {
  const auto quotient = [](std::int64_t a, std::int64_t b) { return (a + b - 1) / b; };
  const std::int64_t tiles = quotient(problem.queries, 16);
  const std::int64_t shares = quotient(tiles, most * kRounds);
  plan.blocks = problem.batch * problem.heads * shares;
  if (shares == 0) return;
  const std::int64_t share = quotient(tiles, shares);
  plan.threads = 32 * static_cast<unsigned>(quotient(share, quotient(share, most)));
}

}  // namespace

Plan<ForwardProblem> plan_resident_forward(const ForwardProblem& problem, const Chip& chip) {
  Plan<ForwardProblem> plan;
  plan.unsupported = "keys and values do not fit, or scores are not plain";
  if (!is_plain(problem)) return plan;
  with_width(problem.width, [&](auto width) {
    constexpr int kWidth = decltype(width)::value;
    const std::int64_t steps = steps_of(problem.keys);
    plan.shared_bytes = 4 * resident_rows(problem.keys) * kRowStride<kWidth>;
    if (steps > steps_at_most(kWidth) || plan.shared_bytes > chip.shared_bytes) return;
    plan.unsupported = common_limits(problem, 16, problem.queries);
    plan.function = problem.element == Element::bf16 ? kernel_for<BFloat16, kWidth>(steps)
                                                     : kernel_for<Float16, kWidth>(steps);
  });
  // Two blocks at once, where they fit, so that one works while the other waits for its keys; each
  // takes 1 KB beside its own.
  const bool two_fit = 2 * (plan.shared_bytes + 1024) <= chip.shared_bytes + 1024;
  share_out(problem, two_fit ? kWarpsAtOnce / 2 : kWarpsAtOnce, plan);
  plan.kernel = "tensor cores, keys resident";
  plan.layout = layout_of(problem);
  return plan;
}

}  // namespace vitascope::kernels::cuda
