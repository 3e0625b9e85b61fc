#include "kernels/cpu/attention.h"

#include <ATen/Parallel.h>

#include <algorithm>
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

/// Calls `work(which, begin, end)` for parts of the rows of each of `count` heads, or pictures.
/// Each is one part where there are enough of them to keep the threads busy, since every part packs
/// the keys again; whole ones always with `divide` false.
template <typename Work>
void for_each_part(std::int64_t count, std::int64_t rows, bool divide, const Work& work) {
  if (count * rows == 0) return;
  constexpr std::int64_t kPartsPerThread = 4;
  constexpr std::int64_t kLeastRows = 48;
  const std::int64_t wanted = (kPartsPerThread * at::get_num_threads() + count - 1) / count;
  const std::int64_t most = divide ? std::max<std::int64_t>(1, rows / kLeastRows) : 1;
  const std::int64_t parts = std::min(wanted, most);
  at::parallel_for(0, count * parts, 1, [&](std::int64_t first, std::int64_t last) {
    for (std::int64_t i = first; i < last; ++i) {
      const std::int64_t part = i % parts;
      work(i / parts, part * rows / parts, (part + 1) * rows / parts);
    }
  });
}

/// Calls `work(Task)` for parts of the rows of every head.
template <typename Work>
void for_each_task(const AttentionProblem& problem, std::int64_t rows, bool divide,
                   const Work& work) {
  for_each_part(problem.batch * problem.heads, rows, divide,
                [&](std::int64_t head, std::int64_t begin, std::int64_t end) {
                  work(Task{head / problem.heads, head % problem.heads, begin, end});
                });
}

}  // namespace

void attention_forward(const ForwardProblem& problem, Isa isa) {
  const AttentionKernels& kernels = kernels_of(isa);
  const std::int64_t space = kernels.forward_space(problem);
  for_each_task(problem, problem.queries, /*divide=*/true,
                [&](const Task& task) { kernels.forward(problem, task, workspace(space)); });
}

void attention_backward(const BackwardProblem& problem, Isa isa) {
  const AttentionKernels& kernels = kernels_of(isa);
  const std::int64_t space = kernels.backward_space(problem);
  // Where there are no queries, dk and dv are still to be written.
  for_each_task(problem, std::max<std::int64_t>(problem.queries, 1), /*divide=*/false,
                [&](const Task& task) { kernels.backward(problem, task, workspace(space)); });
}

void attention_map(const MapProblem& problem, Isa isa) {
  const AttentionKernels& kernels = kernels_of(isa);
  const std::int64_t space = kernels.map_space(problem);
  if (!problem.head_mean) {
    for_each_task(problem, problem.row_count, /*divide=*/true,
                  [&](const Task& task) { kernels.map(problem, task, workspace(space)); });
    return;
  }
  // The heads of a picture add to the same rows, so one thread takes them, in order.
  std::fill_n(problem.map, problem.batch * problem.row_count * problem.keys, 0.f);
  for_each_part(problem.batch, problem.row_count, /*divide=*/true,
                [&](std::int64_t b, std::int64_t begin, std::int64_t end) {
                  for (std::int64_t h = 0; h < problem.heads; ++h) {
                    kernels.map(problem, {b, h, begin, end}, workspace(space));
                  }
                });
}

void attention_map_gradient(const MapGradientProblem& problem, Isa isa) {
  const AttentionKernels& kernels = kernels_of(isa);
  const std::int64_t space = kernels.map_space(problem);
  for_each_task(problem, problem.row_count, /*divide=*/true,
                [&](const Task& task) { kernels.map_gradient(problem, task, workspace(space)); });
}

}  // namespace vitascope::kernels::cpu
