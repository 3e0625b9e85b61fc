#pragma once

#include "vit/caption/alignment/config.h"
#include "vit/caption/slots.h"

/// \file
/// A bilinear form as a score (Luong et al. 2015, arXiv:1508.04025, "general").
namespace vitascope::caption {

/// e = q^T W_a a.
struct General {
  at::Tensor weight;  ///< W_a [Dq, Da]

  /// Appends W_a.
  void list(const AlignmentConfig& config, const std::string& prefix, Slots& slots);
  /// W_a a: [B, L, Dq].
  at::Tensor keys(const at::Tensor& values) const;
  /// \param queries [B, Q, Dq] \return [B, Q, L]
  at::Tensor scores(const at::Tensor& queries, const at::Tensor& keys) const;
};

}  // namespace vitascope::caption
