#pragma once

#include "vit/model/attention.h"
#include "vit/model/config.h"
#include "vit/model/forward_options.h"
#include "vit/model/norm.h"

/// \file
/// A pre-norm transformer block: attention, then an MLP or SwiGLU, each with LayerScale
/// (Touvron et al. 2021) where the family has it.
namespace vitascope::model {

/// The feed-forward half of a block; SwiGLU is of Shazeer 2020, arXiv:2002.05202.
struct Mlp {
  kernels::Weight fc1;  ///< [M, C], or SwiGLU: gate rows, then up rows, [2 M, C]
  kernels::Weight fc2;  ///< [C, M]

  /// residual + gamma * fc2(activation(fc1(x))); SwiGLU: fc2(silu(gate) * up).
  /// \param epilogue LayerScale and the residual, which must be given
  at::Tensor forward(const at::Tensor& x, const Config& config,
                     const kernels::Epilogue& epilogue) const;
};

/// x + ls1 * attn(norm1(x)), then x + ls2 * mlp(norm2(x)).
struct Block {
  LayerNorm norm1, norm2;
  Attention attn;
  Mlp mlp;
  at::Tensor ls1, ls2;  ///< gamma [C], or undefined

  /// x [B, N, C] -> [B, N, C].
  /// \param layer the block's number, from 0
  at::Tensor forward(const at::Tensor& x, const Config& config, int layer,
                     const ForwardOptions& options) const;
};

}  // namespace vitascope::model
