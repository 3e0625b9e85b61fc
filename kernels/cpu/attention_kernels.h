#pragma once

#include <cstdint>

#include "kernels/attention_problem.h"
#include "kernels/cpu/isa.h"

/// \file
/// The attention kernels of one instruction set: what is done for one head by one thread.
namespace vitascope::kernels::cpu {

/// Part of a problem: some queries of one head of one picture.
struct Task {
  std::int64_t b, h, begin, end;
};

/// Functions compiled for one instruction set, with the floats of workspace that each needs.
struct AttentionKernels {
  std::int64_t (*forward_space)(const ForwardProblem&);
  void (*forward)(const ForwardProblem&, const Task&, float* workspace);
  std::int64_t (*backward_space)(const BackwardProblem&);
  /// All queries of the head, whatever the task says of them.
  void (*backward)(const BackwardProblem&, const Task&, float* workspace);
  std::int64_t (*map_space)(const AttentionProblem&);
  /// The task's queries are places among the rows that are asked for.
  void (*map)(const MapProblem&, const Task&, float* workspace);
  void (*map_gradient)(const MapGradientProblem&, const Task&, float* workspace);
};

namespace baseline {
/// Without extensions: what every processor of its kind can do.
const AttentionKernels& attention_kernels();
}  // namespace baseline
namespace avx2 {
/// AVX2 and FMA: 8 lanes, 16 registers.
const AttentionKernels& attention_kernels();
}  // namespace avx2
namespace avx512 {
/// AVX-512 (F, BW, VL, DQ): 16 lanes, 32 registers.
const AttentionKernels& attention_kernels();
}  // namespace avx512
namespace avx512_bf16 {
/// AVX-512 with products of bfloat16 pairs.
const AttentionKernels& attention_kernels();
}  // namespace avx512_bf16

}  // namespace vitascope::kernels::cpu
