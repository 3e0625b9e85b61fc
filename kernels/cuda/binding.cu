// The operators of kernels/attention_operators.cpp for tensors on a GPU.
#include <ATen/core/dispatch/Dispatcher.h>
#include <ATen/ops/empty.h>
#include <c10/cuda/CUDAGuard.h>
#include <c10/cuda/CUDAStream.h>
#include <torch/library.h>

#include "kernels/attention_arguments.h"
#include "kernels/cuda/attention.cuh"

namespace vitascope::kernels::cuda {
namespace {

using Arguments = c10::ArrayRef<c10::IValue>;

/// One call of an operator: its arguments are on a stack, where its results replace them.
class Call {
 public:
  Call(const c10::OperatorHandle& handle, torch::jit::Stack& stack)
      : stack_(stack), first_(stack.size() - handle.schema().arguments().size()) {}

  at::Tensor tensor(std::size_t i) const { return stack_[first_ + i].toTensor(); }
  const c10::IValue& value(std::size_t i) const { return stack_[first_ + i]; }
  OperatorOptions options(std::size_t first) const {
    return options_at(Arguments(stack_), first_ + first);
  }
  void give(std::vector<c10::IValue> results) const {
    stack_.resize(first_);
    for (c10::IValue& result : results) stack_.push_back(std::move(result));
  }

 private:
  torch::jit::Stack& stack_;
  std::size_t first_;
};

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

at::Tensor empty_floats(at::IntArrayRef shape, const at::Tensor& like) {
  return at::empty(shape, like.options().dtype(at::kFloat));
}

/// attention(q, k, v, options...) -> (out, lse)
void attention(const c10::OperatorHandle& handle, torch::jit::Stack* stack) {
  const Call call(handle, *stack);
  const at::Tensor q = call.tensor(0);
  const c10::cuda::CUDAGuard guard(q.device());
  ForwardProblem problem;
  std::vector<at::Tensor> kept;
  set_operands(problem, kept, q, call.tensor(1), call.tensor(2), call.options(3));
  const at::Tensor out =
      at::empty({problem.batch, problem.queries, problem.heads * problem.width}, q.options());
  const at::Tensor lse = empty_floats({problem.batch, problem.heads, problem.queries}, q);
  problem.out = out.data_ptr();
  problem.out_strides = strides_of(heads_of(out, problem.heads));
  problem.lse = lse.data_ptr<float>();
  check_started(launch(problem, current_chip(), c10::cuda::getCurrentCUDAStream()));
  call.give({out, lse});
}

/// A gradient of [B, H, N, D] that lies in memory as [B, N, H, D], as the projections want it.
at::Tensor empty_gradient(const at::Tensor& of) {
  return at::empty({of.size(0), of.size(2), of.size(1), of.size(3)}, of.options()).transpose(1, 2);
}

/// attention_backward(dout, q, k, v, out, lse, options...) -> (dq, dk, dv)
void attention_backward(const c10::OperatorHandle& handle, torch::jit::Stack* stack) {
  const Call call(handle, *stack);
  const at::Tensor q = call.tensor(1), k = call.tensor(2);
  const c10::cuda::CUDAGuard guard(q.device());
  BackwardProblem problem;
  std::vector<at::Tensor> kept;
  set_operands(problem, kept, q, k, call.tensor(3), call.options(6));
  const at::Tensor dout = heads_of(call.tensor(0), problem.heads);
  const at::Tensor out = heads_of(call.tensor(4), problem.heads);
  const at::Tensor lse = call.tensor(5).contiguous();
  const at::Tensor delta = empty_floats({problem.batch, problem.heads, problem.queries}, q);
  const at::Tensor dq = empty_gradient(q), dk = empty_gradient(k), dv = empty_gradient(k);
  problem.dout = dout.const_data_ptr();
  problem.dout_strides = strides_of(dout);
  problem.out = out.const_data_ptr();
  problem.out_strides = strides_of(out);
  problem.lse = lse.const_data_ptr<float>();
  problem.dq = dq.data_ptr();
  problem.dk = dk.data_ptr();
  problem.dv = dv.data_ptr();
  problem.dq_strides = strides_of(dq);
  problem.dk_strides = strides_of(dk);
  problem.dv_strides = strides_of(dv);
  check_started(
      launch(problem, delta.data_ptr<float>(), current_chip(), c10::cuda::getCurrentCUDAStream()));
  call.give({dq, dk, dv});
}

/// Sets which rows are wanted; they are checked on the CPU, which waits for them.
template <class Problem>
void set_rows(Problem& problem, std::vector<at::Tensor>& kept, const c10::IValue& rows,
              const at::Device& device) {
  problem.row_count = problem.queries;
  if (rows.isNone()) return;
  const at::Tensor list = rows.toTensor().to(at::kCPU, at::kLong).contiguous();
  TORCH_CHECK(list.dim() == 1, "attention_map: rows are a list, got shape ", list.sizes());
  problem.row_count = list.size(0);
  for (std::int64_t i = 0; i < problem.row_count; ++i) {
    const std::int64_t row = list.const_data_ptr<std::int64_t>()[i];
    TORCH_CHECK(row >= 0 && row < problem.queries, "attention_map: row ", row, " of ",
                problem.queries);
  }
  problem.rows = kept.emplace_back(list.to(device)).const_data_ptr<std::int64_t>();
}

/// attention_map(q, k, lse, options..., rows, head_mean) -> map
void attention_map(const c10::OperatorHandle& handle, torch::jit::Stack* stack) {
  const Call call(handle, *stack);
  const at::Tensor q = call.tensor(0), k = call.tensor(1);
  const c10::cuda::CUDAGuard guard(q.device());
  MapProblem problem;
  std::vector<at::Tensor> kept;
  set_operands(problem, kept, q, k, k, call.options(3));
  const at::Tensor lse = call.tensor(2).contiguous();
  problem.lse = lse.const_data_ptr<float>();
  set_rows(problem, kept, call.value(3 + kOptionsCount), q.device());
  problem.head_mean = call.value(4 + kOptionsCount).toBool();
  const at::Tensor map = empty_floats(
      {problem.batch, problem.head_mean ? 1 : problem.heads, problem.row_count, problem.keys}, q);
  problem.map = map.data_ptr<float>();
  check_started(launch(problem, current_chip(), c10::cuda::getCurrentCUDAStream()));
  call.give({map});
}

/// attention_map_gradient(q, k, v, dout, options..., rows) -> gradient
void attention_map_gradient(const c10::OperatorHandle& handle, torch::jit::Stack* stack) {
  const Call call(handle, *stack);
  const at::Tensor q = call.tensor(0);
  const c10::cuda::CUDAGuard guard(q.device());
  MapGradientProblem problem;
  std::vector<at::Tensor> kept;
  set_operands(problem, kept, q, call.tensor(1), call.tensor(2), call.options(4));
  const at::Tensor dout = heads_of(call.tensor(3), problem.heads);
  problem.dout = dout.const_data_ptr();
  problem.dout_strides = strides_of(dout);
  set_rows(problem, kept, call.value(4 + kOptionsCount), q.device());
  const at::Tensor gradient =
      empty_floats({problem.batch, problem.heads, problem.row_count, problem.keys}, q);
  problem.gradient = gradient.data_ptr<float>();
  check_started(launch(problem, current_chip(), c10::cuda::getCurrentCUDAStream()));
  call.give({gradient});
}

}  // namespace

TORCH_LIBRARY_IMPL(vitascope, CUDA, library) {
  using torch::CppFunction;
  library.impl("attention", CppFunction::makeFromBoxedFunction<&attention>());
  library.impl("attention_backward", CppFunction::makeFromBoxedFunction<&attention_backward>());
  library.impl("attention_map", CppFunction::makeFromBoxedFunction<&attention_map>());
  library.impl("attention_map_gradient",
               CppFunction::makeFromBoxedFunction<&attention_map_gradient>());
}

}  // namespace vitascope::kernels::cuda
