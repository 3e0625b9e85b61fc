// The operators vitascope::attention... as LibTorch's dispatcher knows them. Kernels are registered
// boxed: they take their arguments from a stack, so that the options are spelled once.
#include <ATen/TensorOperators.h>
#include <ATen/core/dispatch/Dispatcher.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/full.h>
#include <ATen/ops/zeros.h>
#include <torch/library.h>

#include <limits>
#include <string>

#include "kernels/attention_arguments.h"
#include "kernels/cpu/attention.h"

namespace vitascope::kernels {
namespace {

using Arguments = c10::ArrayRef<c10::IValue>;

Arguments arguments_of(const c10::OperatorHandle& handle, const torch::jit::Stack& stack) {
  return Arguments(stack).slice(stack.size() - handle.schema().arguments().size());
}

/// Replaces the arguments by the results.
void give(const c10::OperatorHandle& handle, torch::jit::Stack& stack,
          std::vector<c10::IValue> results) {
  stack.resize(stack.size() - handle.schema().arguments().size());
  for (c10::IValue& result : results) stack.push_back(std::move(result));
}

// attention(q, k, v, options...) -> (out, lse)

struct ForwardResult {
  at::Tensor out, lse;
};

ForwardResult empty_results(const at::Tensor& q) {
  return {at::empty({q.size(0), q.size(2), q.size(1) * q.size(3)}, q.options()),
          at::empty({q.size(0), q.size(1), q.size(2)}, q.options().dtype(at::kFloat))};
}

void attention_cpu(const c10::OperatorHandle& handle, torch::jit::Stack* stack) {
  const Arguments arguments = arguments_of(handle, *stack);
  const at::Tensor q = arguments[0].toTensor();
  ForwardProblem problem;
  std::vector<at::Tensor> kept;
  set_operands(problem, kept, q, arguments[1].toTensor(), arguments[2].toTensor(),
               options_at(arguments, 3));
  const auto [out, lse] = empty_results(q);
  problem.out = out.data_ptr();
  problem.out_strides = strides_of(heads_of(out, problem.heads));
  problem.lse = lse.data_ptr<float>();
  if (problem.keys > 0) {
    cpu::attention_forward(problem, cpu::chosen_isa());
  } else {
    out.zero_();
    lse.fill_(-std::numeric_limits<float>::infinity());
  }
  give(handle, *stack, {out, lse});
}

void attention_meta(const c10::OperatorHandle& handle, torch::jit::Stack* stack) {
  const Arguments arguments = arguments_of(handle, *stack);
  check_operands(arguments[0].toTensor(), arguments[1].toTensor(), arguments[2].toTensor());
  const auto [out, lse] = empty_results(arguments[0].toTensor());
  give(handle, *stack, {out, lse});
}

// attention_backward(dout, q, k, v, out, lse, options...) -> (dq, dk, dv)

/// A gradient of [B, H, N, D] that lies in memory as [B, N, H, D], as the projections want it.
at::Tensor empty_gradient(const at::Tensor& of) {
  return at::empty({of.size(0), of.size(2), of.size(1), of.size(3)}, of.options()).transpose(1, 2);
}

void attention_backward_cpu(const c10::OperatorHandle& handle, torch::jit::Stack* stack) {
  const Arguments arguments = arguments_of(handle, *stack);
  const at::Tensor q = arguments[1].toTensor();
  const at::Tensor k = arguments[2].toTensor();
  BackwardProblem problem;
  std::vector<at::Tensor> kept;
  set_operands(problem, kept, q, k, arguments[3].toTensor(), options_at(arguments, 6));
  const auto rows = [&](std::size_t i, const void*& data, Strides& strides) {
    const at::Tensor& heads = kept.emplace_back(heads_of(arguments[i].toTensor(), problem.heads));
    data = heads.const_data_ptr();
    strides = strides_of(heads);
  };
  rows(0, problem.dout, problem.dout_strides);
  rows(4, problem.out, problem.out_strides);
  const at::Tensor lse = arguments[5].toTensor().contiguous();
  problem.lse = lse.const_data_ptr<float>();
  const at::Tensor dq = empty_gradient(q);
  const at::Tensor dk = empty_gradient(k);
  const at::Tensor dv = empty_gradient(k);
  problem.dq = dq.data_ptr();
  problem.dk = dk.data_ptr();
  problem.dv = dv.data_ptr();
  problem.dq_strides = strides_of(dq);
  problem.dk_strides = strides_of(dk);
  problem.dv_strides = strides_of(dv);
  if (problem.keys > 0) {
    cpu::attention_backward(problem, cpu::chosen_isa());
  } else {
    dq.zero_();
  }
  give(handle, *stack, {dq, dk, dv});
}

void attention_backward_meta(const c10::OperatorHandle& handle, torch::jit::Stack* stack) {
  const Arguments arguments = arguments_of(handle, *stack);
  const auto gradient = [&](std::size_t i) { return empty_gradient(arguments[i].toTensor()); };
  give(handle, *stack, {gradient(1), gradient(2), gradient(3)});
}

// attention_map(q, k, lse, options..., rows, head_mean) -> map
// attention_map_gradient(q, k, v, dout, options..., rows) -> gradient

/// Sets which rows are wanted. \return how many
template <typename Problem>
std::int64_t set_rows(Problem& problem, std::vector<at::Tensor>& kept, const c10::IValue& rows) {
  problem.row_count = problem.queries;
  if (!rows.isNone()) {
    const at::Tensor& list = kept.emplace_back(rows.toTensor().to(at::kLong).contiguous());
    TORCH_CHECK(list.dim() == 1, "attention_map: rows are a list, got shape ", list.sizes());
    problem.rows = list.const_data_ptr<std::int64_t>();
    problem.row_count = list.size(0);
    for (std::int64_t i = 0; i < problem.row_count; ++i) {
      TORCH_CHECK(problem.rows[i] >= 0 && problem.rows[i] < problem.queries, "attention_map: row ",
                  problem.rows[i], " of ", problem.queries);
    }
  }
  return problem.row_count;
}

void attention_map_cpu(const c10::OperatorHandle& handle, torch::jit::Stack* stack) {
  const Arguments arguments = arguments_of(handle, *stack);
  const at::Tensor q = arguments[0].toTensor();
  const at::Tensor k = arguments[1].toTensor();
  MapProblem problem;
  std::vector<at::Tensor> kept;
  set_operands(problem, kept, q, k, k, options_at(arguments, 3));
  const at::Tensor lse = arguments[2].toTensor().contiguous();
  problem.lse = lse.const_data_ptr<float>();
  const std::int64_t rows = set_rows(problem, kept, arguments[3 + kOptionsCount]);
  problem.head_mean = arguments[4 + kOptionsCount].toBool();
  const at::Tensor map =
      at::empty({problem.batch, problem.head_mean ? 1 : problem.heads, rows, problem.keys},
                q.options().dtype(at::kFloat));
  problem.map = map.data_ptr<float>();
  if (problem.keys > 0) cpu::attention_map(problem, cpu::chosen_isa());
  give(handle, *stack, {map});
}

void attention_map_gradient_cpu(const c10::OperatorHandle& handle, torch::jit::Stack* stack) {
  const Arguments arguments = arguments_of(handle, *stack);
  const at::Tensor q = arguments[0].toTensor();
  MapGradientProblem problem;
  std::vector<at::Tensor> kept;
  set_operands(problem, kept, q, arguments[1].toTensor(), arguments[2].toTensor(),
               options_at(arguments, 4));
  const at::Tensor dout = heads_of(arguments[3].toTensor(), problem.heads);
  problem.dout = dout.const_data_ptr();
  problem.dout_strides = strides_of(dout);
  const std::int64_t rows = set_rows(problem, kept, arguments[4 + kOptionsCount]);
  const at::Tensor gradient =
      at::empty({problem.batch, problem.heads, rows, problem.keys}, q.options().dtype(at::kFloat));
  problem.gradient = gradient.data_ptr<float>();
  if (problem.keys > 0) cpu::attention_map_gradient(problem, cpu::chosen_isa());
  give(handle, *stack, {gradient});
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
