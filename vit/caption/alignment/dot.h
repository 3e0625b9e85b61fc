#pragma once

#include "vit/caption/alignment/config.h"
#include "vit/caption/slots.h"

/// \file
/// The dot product as a score (Luong et al. 2015, arXiv:1508.04025).
namespace vitascope::caption {

/// e = q^T a; both are of one width.
struct Dot {
  /// Has no parameters.
  void list(const AlignmentConfig&, const std::string&, Slots&) {}
  /// The annotations [B, L, D] themselves.
  at::Tensor keys(const at::Tensor& values) const { return values; }
  /// \param queries [B, Q, D] \return [B, Q, L]
  at::Tensor scores(const at::Tensor& queries, const at::Tensor& keys) const;
};

}  // namespace vitascope::caption
