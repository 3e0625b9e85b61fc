#pragma once

#include "kernels/linear.h"
#include "vit/caption/alignment/config.h"
#include "vit/caption/slots.h"

/// \file
/// The scaled dot product as a score (Vaswani et al. 2017, arXiv:1706.03762).
namespace vitascope::caption {

/// e = (W_Q q)^T (W_K a) / sqrt(A); the annotations themselves are what is summed.
struct ScaledDot {
  kernels::Weight query;  ///< W_Q [A, Dq]
  kernels::Weight key;    ///< W_K [A, Da]

  /// Appends W_Q and W_K.
  void list(const AlignmentConfig& config, const std::string& prefix, Slots& slots);
  /// W_K a / sqrt(A): [B, L, A].
  at::Tensor keys(const at::Tensor& values) const;
  /// \param queries [B, Q, Dq] \return [B, Q, L]
  at::Tensor scores(const at::Tensor& queries, const at::Tensor& keys) const;
};

}  // namespace vitascope::caption
