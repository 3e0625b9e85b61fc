#pragma once

#include <utility>

#include "kernels/linear.h"
#include "vit/caption/alignment/config.h"
#include "vit/caption/alignment/window.h"
#include "vit/caption/slots.h"

/// \file
/// Multi-head cross attention (Vaswani et al. 2017, arXiv:1706.03762).
namespace vitascope::caption {

/// Which weights are wanted beside the context.
enum class Maps {
  none,
  mean,  ///< over heads
  heads  ///< of each head
};

/// W_O concat_h softmax(W_Q q (W_K a)^T / sqrt(D)) W_V a, through the project's kernels.
struct MultiHead {
  kernels::Weight query;   ///< W_Q [A, Dq], b_Q
  kernels::Weight key;     ///< W_K [A, Da], b_K, which nothing depends on
  kernels::Weight value;   ///< W_V [A, Da], b_V
  kernels::Weight output;  ///< W_O [A, A], b_O
  std::int64_t heads = 1;  ///< H

  /// Appends W_Q, b_Q, W_K, b_K, W_V, b_V, W_O, b_O.
  void list(const AlignmentConfig& config, const std::string& prefix, Slots& slots);

  /// Keys and values of the annotations [B, L, Da]: [B, H, L, D] each.
  std::pair<at::Tensor, at::Tensor> project(const at::Tensor& values) const;

  /// What attend gives.
  struct Result {
    at::Tensor context;  ///< [B, Q, A]
    at::Tensor weights;  ///< [B, H, Q, L], or [B, 1, Q, L] for the mean; undefined: not wanted
  };

  /// \param queries [B, Q, Dq] \param projected as project gave it
  /// Gradients flow through the context, and through the weights too where they are wanted.
  Result attend(const at::Tensor& queries, const std::pair<at::Tensor, at::Tensor>& projected,
                const Field& field, Maps maps) const;
};

}  // namespace vitascope::caption
