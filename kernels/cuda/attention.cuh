#pragma once

#include "kernels/attention_problem.h"
#include "kernels/cuda/launch.cuh"

/// \file
/// What kernels/cuda offers: for each problem, the choice of a kernel, and its start.
namespace vitascope::kernels::cuda {

/// What the choice of a kernel depends on.
struct Chip {
  std::int64_t shared_bytes = 0;  ///< dynamic shared memory that one block may have
};

/// The kernel that runs for a problem, or why none does.
struct Choice {
  const char* unsupported = nullptr;  ///< why there is no kernel; nullptr: there is one
  const char* kernel = "";            ///< its name, for people
  std::int64_t blocks = 0;            ///< 0: nothing to do
  unsigned threads = 0;
  std::int64_t shared_bytes = 0;  ///< of a block
};

/// \name What `launch` will do with the same arguments
/// @{
Choice supports(const ForwardProblem& problem, const Chip& chip);
Choice supports(const BackwardProblem& problem, const Chip& chip);
Choice supports(const MapProblem& problem, const Chip& chip);
Choice supports(const MapGradientProblem& problem, const Chip& chip);
/// @}

/// \name Starts the kernel that `supports` names
/// \return nullptr when it was started, else why not
/// @{
const char* launch(const ForwardProblem& problem, const Chip& chip, Stream stream);
/// \param delta memory for B * H * Nq floats, free again when the work is done
const char* launch(const BackwardProblem& problem, float* delta, const Chip& chip, Stream stream);
const char* launch(const MapProblem& problem, const Chip& chip, Stream stream);
const char* launch(const MapGradientProblem& problem, const Chip& chip, Stream stream);
/// @}

}  // namespace vitascope::kernels::cuda
