#pragma once

#include "vit/caption/alignment/config.h"
#include "vit/caption/slots.h"

/// \file
/// A layer over query and annotation side by side (Luong et al. 2015, arXiv:1508.04025, "concat").
namespace vitascope::caption {

/// e = v_a^T tanh(W_a [q; a]).
struct Concat {
  at::Tensor weight;  ///< W_a [A, Dq + Da]
  at::Tensor v;       ///< v_a [A]

  /// Appends W_a and v_a.
  void list(const AlignmentConfig& config, const std::string& prefix, Slots& slots);
  /// The annotations' part of the product: [B, L, A].
  at::Tensor keys(const at::Tensor& values) const;
  /// \param queries [B, Q, Dq] \return [B, Q, L]
  at::Tensor scores(const at::Tensor& queries, const at::Tensor& keys) const;
};

}  // namespace vitascope::caption
