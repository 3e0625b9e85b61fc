#pragma once

#include "vit/caption/slots.h"

/// \file
/// How much the context counts at a step (Xu et al. 2015, arXiv:1502.03044, section 4.2.1).
namespace vitascope::caption {

/// beta = sigmoid(w . h + b), one number for the whole context.
struct Gate {
  at::Tensor weight;  ///< w [n]
  at::Tensor bias;    ///< b [1]

  /// Appends w and b.
  void list(std::int64_t query_width, const std::string& prefix, Slots& slots);
  /// \param queries [..., n] \return [..., 1]
  at::Tensor beta(const at::Tensor& queries) const;
};

}  // namespace vitascope::caption
