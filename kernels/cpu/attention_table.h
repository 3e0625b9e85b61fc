#pragma once

#include "kernels/cpu/attention_backward.h"
#include "kernels/cpu/attention_forward.h"
#include "kernels/cpu/attention_kernels.h"
#include "kernels/cpu/attention_map.h"

/// \file
/// The table of functions of the instruction set that this file is compiled for.
namespace vitascope::kernels::cpu::VITASCOPE_ISA {

/// Calls `work` with the format that suits the problem's numbers.
template <typename Work>
VITASCOPE_INLINE auto with_format(const AttentionProblem& problem, const Work& work) {
#if defined(__AVX512BF16__)
  if (problem.element == Element::bf16) return work(Bfloat16Pairs());
#endif
  static_cast<void>(problem);
  return work(Float32());
}

/// Floats of workspace for a part of a head.
inline std::int64_t forward_space(const ForwardProblem& problem) {
  return with_format(problem, [&](auto format) -> std::int64_t {
    return ForwardSpace<decltype(format)>(problem).total;
  });
}

/// out and lse of some queries of a head.
inline void forward(const ForwardProblem& problem, const Task& task, float* workspace) {
  with_format(problem, [&](auto format) {
    ForwardHead<decltype(format)>(problem, task.b, task.h, workspace).run(task.begin, task.end);
  });
}

/// Floats of workspace for a head.
inline std::int64_t backward_space(const BackwardProblem& problem) {
  return with_format(problem, [&](auto format) -> std::int64_t {
    return BackwardSpace<decltype(format)>(problem).total;
  });
}

/// All gradients of a head.
inline void backward(const BackwardProblem& problem, const Task& task, float* workspace) {
  with_format(problem, [&](auto format) {
    BackwardHead<decltype(format)>(problem, task.b, task.h, workspace).run();
  });
}

/// Floats of workspace for maps and their gradients.
inline std::int64_t map_space(const AttentionProblem& problem) { return MapSpace(problem).total; }

/// Some rows of the map of a head.
inline void map(const MapProblem& problem, const Task& task, float* workspace) {
  map_rows(problem, task.b, task.h, task.begin, task.end, workspace);
}

/// Some rows of the gradient of the map of a head.
inline void map_gradient(const MapGradientProblem& problem, const Task& task, float* workspace) {
  map_gradient_rows(problem, task.b, task.h, task.begin, task.end, workspace);
}

/// See attention_kernels.h.
const AttentionKernels& attention_kernels() {
  static constexpr AttentionKernels kernels{forward_space, forward, backward_space, backward,
                                            map_space,     map,     map_gradient};
  return kernels;
}

}  // namespace vitascope::kernels::cpu::VITASCOPE_ISA
