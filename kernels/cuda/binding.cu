// The operators of kernels/attention_operators.cpp for tensors on a GPU.
#include <ATen/ops/empty_like.h>
#include <c10/cuda/CUDAGuard.h>
#include <c10/cuda/CUDAStream.h>
#include <torch/library.h>

#include <string>

#include "kernels/attention_arguments.h"
#include "kernels/cuda/attention.cuh"

namespace vitascope::kernels::cuda {
namespace {

Chip current_chip() {
  int device = 0, bytes = 0;
  cudaError_t error = cudaGetDevice(&device);
  if (error == cudaSuccess) {
    error = cudaDeviceGetAttribute(&bytes, cudaDevAttrMaxSharedMemoryPerBlockOptin, device);
  }
  TORCH_CHECK(error == cudaSuccess, "attention: ", cudaGetErrorString(error));
  return {bytes};
}

void check_started(const char* why_not) {
  TORCH_CHECK(why_not == nullptr, "attention on a GPU: ", why_not);
}

template <class Problem>
const char* launch_now(const Problem& problem) {
  return launch(problem, current_chip(), c10::cuda::getCurrentCUDAStream());
}

void attention(const c10::OperatorHandle& handle, torch::jit::Stack* stack) {
  const Call call(handle, *stack);
  const c10::cuda::CUDAGuard guard(call.tensor(0).device());
  const auto prepared = prepare_forward(call);
  check_started(launch_now(prepared.problem));
  call.give(prepared.results);
}

void attention_backward(const c10::OperatorHandle& handle, torch::jit::Stack* stack) {
  const Call call(handle, *stack);
  const at::Tensor lse = call.tensor(5);
  const c10::cuda::CUDAGuard guard(lse.device());
  const auto prepared = prepare_backward(call);
  const at::Tensor delta = at::empty_like(lse, at::MemoryFormat::Contiguous);
  check_started(launch(prepared.problem, delta.data_ptr<float>(), current_chip(),
                       c10::cuda::getCurrentCUDAStream()));
  call.give(prepared.results);
}

void attention_map(const c10::OperatorHandle& handle, torch::jit::Stack* stack) {
  const Call call(handle, *stack);
  const c10::cuda::CUDAGuard guard(call.tensor(0).device());
  const auto prepared = prepare_map(call);
  check_started(launch_now(prepared.problem));
  call.give(prepared.results);
}

void attention_map_gradient(const c10::OperatorHandle& handle, torch::jit::Stack* stack) {
  const Call call(handle, *stack);
  const c10::cuda::CUDAGuard guard(call.tensor(0).device());
  const auto prepared = prepare_map_gradient(call);
  check_started(launch_now(prepared.problem));
  call.give(prepared.results);
}

/// What the launcher says of queries like q that attend to each other.
void attention_refusal(const c10::OperatorHandle&, torch::jit::Stack* stack) {
  const at::Tensor q = stack->back().toTensor();
  const c10::cuda::CUDAGuard guard(q.device());
  ForwardProblem problem;
  problem.batch = q.size(0);
  problem.heads = q.size(1);
  problem.queries = problem.keys = q.size(2);
  problem.width = q.size(3);
  problem.element = element_of(q.scalar_type()).value();
  const char* reason = supports(problem, current_chip()).unsupported;
  stack->back() = std::string(reason == nullptr ? "" : reason);
}

}  // namespace

TORCH_LIBRARY_IMPL(vitascope, CUDA, library) {
  using torch::CppFunction;
  library.impl("attention", CppFunction::makeFromBoxedFunction<&attention>());
  library.impl("attention_backward", CppFunction::makeFromBoxedFunction<&attention_backward>());
  library.impl("attention_map", CppFunction::makeFromBoxedFunction<&attention_map>());
  library.impl("attention_map_gradient",
               CppFunction::makeFromBoxedFunction<&attention_map_gradient>());
  library.impl("attention_refusal", CppFunction::makeFromBoxedFunction<&attention_refusal>());
}

}  // namespace vitascope::kernels::cuda
