#pragma once

#include "kernels/cuda/attention.cuh"

/// \file
/// A chosen kernel, ready to start. What is asked whether a problem is supported is the same plan
/// that is started.
namespace vitascope::kernels::cuda {

/// What kernels ask of pointers and strides.
struct Layout {
  bool packets = false;  ///< rows that are read begin at multiples of 16 bytes
  bool pairs = false;    ///< rows that are written begin at multiples of two elements
};

/// \tparam Problem what the kernel is told
template <class Problem>
struct Plan : Choice {
  void (*function)(Problem, Layout) = nullptr;
  Layout layout;
};

/// Starts the kernel of a plan, if there is one and anything to do.
/// \return nullptr when it was started, else why not
template <class Problem>
const char* start(const Plan<Problem>& plan, const Problem& problem, Stream stream) {
  if (plan.unsupported != nullptr || plan.blocks == 0) return plan.unsupported;
  return start(plan.function, plan.blocks, plan.threads, plan.shared_bytes, stream, problem,
               plan.layout);
}

/// The forward pass by tensor cores with all keys and values of a (batch, head) in shared memory;
/// unsupported where they, or a warp's scores in registers, do not fit, and for general scores.
Plan<ForwardProblem> plan_resident_forward(const ForwardProblem& problem, const Chip& chip);
/// The forward pass without tensor cores: every type, every width to 128.
Plan<ForwardProblem> plan_scalar_forward(const ForwardProblem& problem);

}  // namespace vitascope::kernels::cuda
