// The operators vitascope::attention... as LibTorch's dispatcher knows them. Kernels are registered
// boxed: they take their arguments from a stack, so that the options are spelled once.
#include <ATen/TensorOperators.h>
#include <torch/library.h>

#include <limits>
#include <string>

#include "kernels/attention_arguments.h"
#include "kernels/cpu/attention.h"

namespace vitascope::kernels {
namespace {

void attention_cpu(const c10::OperatorHandle& handle, torch::jit::Stack* stack) {
  const Call call(handle, *stack);
  const auto [problem, results, kept] = prepare_forward(call);
  if (problem.keys > 0) {
    cpu::attention_forward(problem, cpu::chosen_isa());
  } else {
    results[0].zero_();
    results[1].fill_(-std::numeric_limits<float>::infinity());
  }
  call.give(results);
}

void attention_backward_cpu(const c10::OperatorHandle& handle, torch::jit::Stack* stack) {
  const Call call(handle, *stack);
  const auto [problem, results, kept] = prepare_backward(call);
  if (problem.keys > 0) {
    cpu::attention_backward(problem, cpu::chosen_isa());
  } else {
    results[0].zero_();
  }
  call.give(results);
}

void attention_map_cpu(const c10::OperatorHandle& handle, torch::jit::Stack* stack) {
  const Call call(handle, *stack);
  const auto [problem, results, kept] = prepare_map(call);
  if (problem.keys > 0) cpu::attention_map(problem, cpu::chosen_isa());
  call.give(results);
}

void attention_map_gradient_cpu(const c10::OperatorHandle& handle, torch::jit::Stack* stack) {
  const Call call(handle, *stack);
  const auto [problem, results, kept] = prepare_map_gradient(call);
  if (problem.keys > 0) cpu::attention_map_gradient(problem, cpu::chosen_isa());
  call.give(results);
}

void attention_meta(const c10::OperatorHandle& handle, torch::jit::Stack* stack) {
  const Call call(handle, *stack);
  check_operands(call.tensor(0), call.tensor(1), call.tensor(2));
  call.give(forward_results(call.tensor(0)));
}

void attention_backward_meta(const c10::OperatorHandle& handle, torch::jit::Stack* stack) {
  const Call call(handle, *stack);
  check_operands(call.tensor(1), call.tensor(2), call.tensor(3));
  call.give(backward_results(call.tensor(1), call.tensor(2)));
}

void define(torch::Library& library, const char* before, const char* after) {
  library.def((std::string(before) + kOptionsSchema + after).c_str());
}

}  // namespace

TORCH_LIBRARY(vitascope, library) {
  define(library, "attention(Tensor q, Tensor k, Tensor v, ", ") -> (Tensor out, Tensor lse)");
  define(library,
         "attention_backward(Tensor dout, Tensor q, Tensor k, Tensor v, Tensor out, Tensor lse, ",
         ") -> (Tensor dq, Tensor dk, Tensor dv)");
  define(library, "attention_map(Tensor q, Tensor k, Tensor lse, ",
         ", Tensor? rows=None, bool head_mean=False) -> Tensor");
  define(library, "attention_map_gradient(Tensor q, Tensor k, Tensor v, Tensor dout, ",
         ", Tensor? rows=None) -> Tensor");
  // Why no kernel of q's device serves queries like it; empty where one does.
  library.def("attention_refusal(Tensor q) -> str");
}

TORCH_LIBRARY_IMPL(vitascope, CPU, library) {
  using torch::CppFunction;
  library.impl("attention", CppFunction::makeFromBoxedFunction<&attention_cpu>());
  library.impl("attention_backward", CppFunction::makeFromBoxedFunction<&attention_backward_cpu>());
  library.impl("attention_map", CppFunction::makeFromBoxedFunction<&attention_map_cpu>());
  library.impl("attention_map_gradient",
               CppFunction::makeFromBoxedFunction<&attention_map_gradient_cpu>());
}

TORCH_LIBRARY_IMPL(vitascope, Meta, library) {
  using torch::CppFunction;
  library.impl("attention", CppFunction::makeFromBoxedFunction<&attention_meta>());
  library.impl("attention_backward",
               CppFunction::makeFromBoxedFunction<&attention_backward_meta>());
}

}  // namespace vitascope::kernels
