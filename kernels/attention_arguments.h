#pragma once

#include <ATen/core/Tensor.h>
#include <ATen/core/dispatch/Dispatcher.h>
#include <ATen/core/stack.h>

#include <optional>
#include <vector>

#include "kernels/attention.h"

/// \file
/// Tensors and options -> the plain structs that kernels read. For the operators' implementations.
namespace vitascope::kernels {

/// Options as the operators take them: what a schema can say.
struct OperatorOptions {
  double scale = 1;
  bool causal = false;
  std::int64_t window = -1;        ///< negative: none
  std::vector<std::int64_t> grid;  ///< prefix, rows, columns, row radius, column radius; or empty
  std::optional<at::Tensor> key_lengths, mask, bias;
  double dropout = 0;
  std::int64_t seed = 0;
};

/// The part of every operator's schema that options are.
inline constexpr const char* kOptionsSchema =
    "float scale, bool causal=False, int window=-1, int[] grid=[], Tensor? key_lengths=None, "
    "Tensor? mask=None, Tensor? bias=None, float dropout=0., int seed=0";
inline constexpr std::size_t kOptionsCount = 9;

/// One call of an operator: its arguments are on a stack, where its results replace them.
class Call {
 public:
  Call(const c10::OperatorHandle& handle, torch::jit::Stack& stack);

  at::Tensor tensor(std::size_t i) const { return value(i).toTensor(); }
  const c10::IValue& value(std::size_t i) const { return stack_[first_ + i]; }
  /// \param first place of the scale among the arguments
  OperatorOptions options(std::size_t first) const;
  void give(const std::vector<at::Tensor>& results) const;

 private:
  torch::jit::Stack& stack_;
  std::size_t first_;
};

/// Calls an operator of this library: tensors, then options, then what its schema has behind them.
std::vector<at::Tensor> call_operator(const char* name, const std::vector<at::Tensor>& tensors,
                                      const OperatorOptions& options,
                                      const std::vector<c10::IValue>& more = {});

/// A problem made of a call's arguments.
template <typename Problem>
struct Prepared {
  Problem problem;
  std::vector<at::Tensor> results;  ///< what the problem is to be written to, as the schema has it
  std::vector<at::Tensor> kept;     ///< the arguments' memory, as long as the problem names it
};

/// \name The same for every device. Tensors whose last dimension is not contiguous are copied.
/// \throws c10::Error when shapes, types or devices do not fit, in words
/// @{
Prepared<ForwardProblem> prepare_forward(const Call& call);
Prepared<BackwardProblem> prepare_backward(const Call& call);
Prepared<MapProblem> prepare_map(const Call& call);
Prepared<MapGradientProblem> prepare_map_gradient(const Call& call);
/// @}

/// \name Results of the shapes and types that the schema has, not yet written
/// @{
std::vector<at::Tensor> forward_results(const at::Tensor& q);
std::vector<at::Tensor> backward_results(const at::Tensor& q, const at::Tensor& k);
/// @}

/// \throws c10::Error when shapes, types or devices do not fit, in words
void check_operands(const at::Tensor& q, const at::Tensor& k, const at::Tensor& v);

/// The kernels' name of a type; nothing for types that they do not take.
std::optional<Element> element_of(at::ScalarType type);

/// [B, N, H * D] as [B, H, N, D], copied where its last dimension is not contiguous.
at::Tensor heads_of(const at::Tensor& tensor, std::int64_t heads);

}  // namespace vitascope::kernels
