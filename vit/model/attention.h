#pragma once

#include "kernels/attention.h"
#include "kernels/linear.h"
#include "vit/model/config.h"
#include "vit/model/forward_options.h"
#include "vit/model/norm.h"

/// \file
/// Multi-head self-attention with its projections.
namespace vitascope::model {

/// Weights of the projections around softmax(q k^T) v (Vaswani et al. 2017, arXiv:1706.03762).
struct Attention {
  kernels::Weight qkv;       ///< [3 C, C]: query rows, key rows, value rows
  kernels::Weight proj;      ///< [C, C]
  LayerNorm q_norm, k_norm;  ///< over the head width; absent in most families

  /// residual + gamma * proj(attention(x)).
  /// \param x        [B, N, C], already normalised
  /// \param layer    the block's number, from 0
  /// \param epilogue what the projection adds: LayerScale and the residual
  at::Tensor forward(const at::Tensor& x, const Config& config, int layer,
                     const ForwardOptions& options, const kernels::Epilogue& epilogue) const;
};

}  // namespace vitascope::model
