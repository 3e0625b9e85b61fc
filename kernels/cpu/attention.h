#pragma once

#include "kernels/attention_problem.h"
#include "kernels/cpu/isa.h"

/// \file
/// Attention on the CPU: the work of a problem divided among LibTorch's threads. Results do not
/// depend on the number of threads.
namespace vitascope::kernels::cpu {

/// Writes out and lse. There must be keys.
void attention_forward(const ForwardProblem& problem, Isa isa);
/// Writes dq, dk and dv. There must be keys.
void attention_backward(const BackwardProblem& problem, Isa isa);
/// Writes the rows of the map that are asked for.
void attention_map(const MapProblem& problem, Isa isa);
/// Writes the same rows of the gradient of the map.
void attention_map_gradient(const MapGradientProblem& problem, Isa isa);

}  // namespace vitascope::kernels::cpu
