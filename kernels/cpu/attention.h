#pragma once

#include "kernels/attention_problem.h"
#include "kernels/cpu/isa.h"

/// \file
/// Attention on the CPU: the work of a problem divided among LibTorch's threads. Results do not
/// depend on the number of threads.
namespace vitascope::kernels::cpu {

void attention_forward(const ForwardProblem& problem, Isa isa);
void attention_backward(const BackwardProblem& problem, Isa isa);
void attention_map(const MapProblem& problem, Isa isa);
void attention_map_gradient(const MapGradientProblem& problem, Isa isa);

}  // namespace vitascope::kernels::cpu
