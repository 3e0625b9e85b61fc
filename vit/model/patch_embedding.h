#pragma once

#include <ATen/core/Tensor.h>

#include "kernels/linear.h"
#include "vit/model/config.h"

/// \file
/// Pixels -> tokens: each patch through one learned projection, or all through a stem of
/// convolutions first; prefix tokens in front, position embeddings added.
namespace vitascope::model {

/// Weights that turn pixels into tokens.
struct PatchEmbedding {
  std::vector<kernels::Weight> stem;  ///< [channels, channels before, 3, 3], of Config::stem
  at::Tensor weight;      ///< [C, 3, P, P]; after a stem [C, channels of its last, 1, 1]
  at::Tensor bias;        ///< [C] or undefined
  at::Tensor cls_token;   ///< [1, 1, C] or undefined
  at::Tensor dist_token;  ///< [1, 1, C] or undefined
  at::Tensor reg_token;   ///< [1, R, C] or undefined
  at::Tensor pos_embed;   ///< [1, position_prefix + rows * columns, C]

  /// \param pixels [B, 3, H, W], H and W multiples of the patch edge
  /// \return [B, prefix + patches, C] with position embeddings
  at::Tensor forward(const at::Tensor& pixels, const Config& config) const;
};

/// The position embedding for another grid, by the family's rule.
/// \param pos_embed [1, prefix + from.count(), C]
/// \return [1, prefix + to.count(), C]
at::Tensor interpolate_positions(const at::Tensor& pos_embed, int prefix, Grid from, Grid to,
                                 PositionInterpolation rule);

/// The grid of patches of an input.
/// \throws std::invalid_argument when a side is not a positive multiple of the patch edge
Grid patch_grid(const Config& config, std::int64_t height, std::int64_t width);

}  // namespace vitascope::model
