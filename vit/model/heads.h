#pragma once

#include "kernels/linear.h"
#include "vit/model/config.h"
#include "vit/model/neighbour_head.h"
#include "vit/model/norm.h"

/// \file
/// Tokens -> features -> logits.
namespace vitascope::model {

/// Pools tokens to what the head reads.
/// \param tokens [B, N, C] after the final norm
/// \return [B, F]; Pooling::first_two: [B, 2, C]
at::Tensor pool(const at::Tensor& tokens, const Config& config);

/// What follows pooling: fc_norm and the linear head or heads, or the one of neighbours.
struct Head {
  LayerNorm fc_norm;          ///< after pooling, or absent
  kernels::Weight head;       ///< [classes, F]; undefined for a backbone
  kernels::Weight head_dist;  ///< DeiT distilled: the second head; logits are the mean of both
  NeighbourHead neighbours;   ///< in place of both

  /// features as pool() gives them, after fc_norm -> [B, classes] in float32.
  at::Tensor logits(const at::Tensor& features) const;
};

}  // namespace vitascope::model
