#pragma once

#include <ATen/core/Tensor.h>
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

/// Options as an operator's arguments, in the order of the schema.
void push_options(torch::jit::Stack& stack, const OperatorOptions& options);
/// \param first place of the scale among the arguments
OperatorOptions options_at(c10::ArrayRef<c10::IValue> arguments, std::size_t first);

/// Calls an operator of this library: tensors, then options, then what its schema has behind them.
std::vector<at::Tensor> call_operator(const char* name, const std::vector<at::Tensor>& tensors,
                                      const OperatorOptions& options,
                                      const std::vector<c10::IValue>& more = {});

/// \throws c10::Error when shapes or types do not fit, in words
void check_operands(const at::Tensor& q, const at::Tensor& k, const at::Tensor& v);

/// q, k and v, and who sees whom. Tensors whose last dimension is not contiguous are copied.
void set_operands(AttentionProblem& problem, std::vector<at::Tensor>& kept, const at::Tensor& q,
                  const at::Tensor& k, const at::Tensor& v, const OperatorOptions& options);

/// Strides of [B, H, N, D].
Strides strides_of(const at::Tensor& tensor);

/// [B, N, H * D] as [B, H, N, D], copied where its last dimension is not contiguous.
at::Tensor heads_of(const at::Tensor& tensor, std::int64_t heads);

/// A mask or bias as a view of [B, H, Nq, Nk].
/// \throws c10::Error when it can't be broadcast
at::Tensor broadcast_to_scores(const at::Tensor& tensor, const at::Tensor& q, const at::Tensor& k,
                               const char* name);

}  // namespace vitascope::kernels
