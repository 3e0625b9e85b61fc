#pragma once

#include "kernels/linear.h"
#include "vit/caption/alignment/config.h"
#include "vit/caption/slots.h"

/// \file
/// Additive attention (Bahdanau et al. 2015, arXiv:1409.0473; so in Show, Attend and Tell).
namespace vitascope::caption {

/// e = v^T tanh(W_h q + W_f a + b).
struct Additive {
  kernels::Weight query;       ///< W_h [A, Dq]
  kernels::Weight annotation;  ///< W_f [A, Da] and b [A]
  at::Tensor v;                ///< [A]

  /// Appends W_f, W_h, b, v, each with `prefix` before its name.
  void list(const AlignmentConfig& config, const std::string& prefix, Slots& slots);
  /// What of the annotations [B, L, Da] is the same at every step: [B, L, A].
  at::Tensor keys(const at::Tensor& values) const;
  /// \param queries [B, Q, Dq] \return [B, Q, L]
  at::Tensor scores(const at::Tensor& queries, const at::Tensor& keys) const;
};

}  // namespace vitascope::caption
