#include "kernels/cpu/attention.h"

#include <ATen/Parallel.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <memory>
#include <new>

#include "kernels/cpu/attention_kernels.h"

namespace vitascope::kernels::cpu {
namespace {

const AttentionKernels& kernels_of(Isa isa) {
  switch (isa) {
#if defined(__x86_64__)
    case Isa::avx2:
      return avx2::attention_kernels();
    case Isa::avx512:
      return avx512::attention_kernels();
    case Isa::avx512_bf16:
      return avx512_bf16::attention_kernels();
#endif
    default:
      return baseline::attention_kernels();
  }
}

/// Floats of this thread's own, aligned to a line of the cache; what they held before is lost.
/// Kept between calls, so that a model's layers allocate once.
float* workspace(std::int64_t floats) {
  struct Free {
    void operator()(float* memory) const { ::operator delete[](memory, std::align_val_t(64)); }
  };
  static thread_local std::unique_ptr<float[], Free> memory;
  static thread_local std::int64_t size = 0;
  if (floats > size) {
    memory.reset();
    size = 0;
    memory.reset(static_cast<float*>(
        ::operator new[](static_cast<std::size_t>(floats) * sizeof(float), std::align_val_t(64))));
    size = floats;
  }
  return memory.get();
}

/// Parts into which the queries of each head are divided: one where there are heads enough to keep
/// the threads busy, since every part packs the keys again.
std::int64_t parts_per_head(std::int64_t heads, std::int64_t queries) {
  constexpr std::int64_t kTasksPerThread = 4;
  constexpr std::int64_t kLeastQueries = 48;
  const std::int64_t wanted = (kTasksPerThread * at::get_num_threads() + heads - 1) / heads;
  return std::clamp<std::int64_t>(wanted, 1, std::max<std::int64_t>(1, queries / kLeastQueries));
}

/// Calls `work` for every part of the queries of every head.
template <typename Work>
void for_each_task(const AttentionProblem& problem, std::int64_t queries, std::int64_t parts,
                   const Work& work) {
  const std::int64_t heads = problem.batch * problem.heads;
  at::parallel_for(0, heads * parts, 1, [&](std::int64_t first, std::int64_t last) {
    for (std::int64_t i = first; i < last; ++i) {
      const std::int64_t head = i / parts;
      const std::int64_t part = i % parts;
      work(Task{head / problem.heads, head % problem.heads, part * queries / parts,
                (part + 1) * queries / parts});
    }
  });
}

}  // namespace

void attention_forward(const ForwardProblem& problem, Isa isa) {
  const std::int64_t heads = problem.batch * problem.heads;
  if (heads * problem.queries == 0) return;
  const AttentionKernels& kernels = kernels_of(isa);
  const std::int64_t space = kernels.forward_space(problem);
  const std::int64_t parts = parts_per_head(heads, problem.queries);
  for_each_task(problem, problem.queries, parts,
                [&](const Task& task) { kernels.forward(problem, task, workspace(space)); });
}

void attention_backward(const BackwardProblem& problem, Isa isa) {
  if (problem.batch * problem.heads == 0) return;
  const AttentionKernels& kernels = kernels_of(isa);
  const std::int64_t space = kernels.backward_space(problem);
  for_each_task(problem, problem.queries, 1,
                [&](const Task& task) { kernels.backward(problem, task, workspace(space)); });
}

void attention_map(const MapProblem& problem, Isa isa) {
  const std::int64_t heads = problem.batch * problem.heads;
  if (heads * problem.row_count == 0) return;
  const AttentionKernels& kernels = kernels_of(isa);
  const std::int64_t space = kernels.map_space(problem);
  if (!problem.head_mean) {
    const std::int64_t parts = parts_per_head(heads, problem.row_count);
    for_each_task(problem, problem.row_count, parts,
                  [&](const Task& task) { kernels.map(problem, task, workspace(space)); });
    return;
  }
  // The heads of a picture add to the same rows, so one thread takes them, in order.
  std::fill_n(problem.map, problem.batch * problem.row_count * problem.keys, 0.f);
  const std::int64_t parts = parts_per_head(problem.batch, problem.row_count);
  at::parallel_for(0, problem.batch * parts, 1, [&](std::int64_t first, std::int64_t last) {
    for (std::int64_t i = first; i < last; ++i) {
      const std::int64_t part = i % parts;
      for (std::int64_t h = 0; h < problem.heads; ++h) {
        kernels.map(problem,
                    {i / parts, h, part * problem.row_count / parts,
                     (part + 1) * problem.row_count / parts},
                    workspace(space));
      }
    }
  });
}

void attention_map_gradient(const MapGradientProblem& problem, Isa isa) {
  const std::int64_t heads = problem.batch * problem.heads;
  if (heads * problem.row_count == 0) return;
  const AttentionKernels& kernels = kernels_of(isa);
  const std::int64_t space = kernels.map_space(problem);
  const std::int64_t parts = parts_per_head(heads, problem.row_count);
  for_each_task(problem, problem.row_count, parts,
                [&](const Task& task) { kernels.map_gradient(problem, task, workspace(space)); });
}

}  // namespace vitascope::kernels::cpu
