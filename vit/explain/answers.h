#pragma once

#include <ATen/core/Tensor.h>

#include "vit/explain/attention_audit.h"
#include "vit/explain/batches.h"
#include "vit/model/vision_transformer.h"

/// \file
/// A network as a function: of pixels, or of attention weights.
namespace vitascope::explain {

/// Normalised pixels on any device -> probabilities, in inference mode. The function holds a copy
/// of the network whose weights are packed where that is quicker: for answers to many pictures.
/// \param network with plain weights, or packed ones already
Scores probabilities_of(const model::VisionTransformer& network,
                        kernels::Backend backend = kernels::Backend::automatic);

/// The attention of the last block, and what the network would answer to other weights there.
struct LastAttention {
  int layer = 0;       ///< the block's number
  at::Tensor weights;  ///< [H, R, N]: of the R queries that the head reads
  /// Differentiable; runs the last block and the head alone.
  AnswerToWeights answer;
};

/// One pass of one picture. The queries are those that the head reads and maps start from: the
/// class token; of distilled models both tokens; where patches are pooled alone, all patches.
/// \param network outlives the result
/// \param pixels  [1, 3, H, W]
LastAttention last_attention(const model::VisionTransformer& network, const at::Tensor& pixels,
                             kernels::Backend backend = kernels::Backend::automatic);

}  // namespace vitascope::explain
