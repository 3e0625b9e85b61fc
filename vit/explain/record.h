#pragma once

#include <ATen/core/Tensor.h>

#include <vector>

#include "kernels/attention.h"
#include "vit/model/vision_transformer.h"

/// \file
/// One forward pass with what explanations need written down, and the gradients of a class.
namespace vitascope::explain {

/// What is written down. Methods say what they need; several are served by one pass.
struct Wanted {
  bool attention = false;  ///< q, k and lse of each layer
  bool attention_gradients =
      false;                     ///< of the logit, with respect to each layer's attention output
  bool layer_gradients = false;  ///< LeGrad's: of each layer's own logit
  bool norm1_gradient = false;   ///< of the logit, with respect to the last block's norm1
  bool hidden_states = false;    ///< what each block reads

  bool gradients() const { return attention_gradients || layer_gradients || norm1_gradient; }
  Wanted operator|(const Wanted& other) const;
};

/// What a pass left behind. Holds autograd's graph where gradients are wanted; nothing is hooked to
/// the network, and all of it goes with this struct.
struct Recorded {
  Wanted wanted;
  model::Output output;
  model::Trace trace;
  model::Grid grid;  ///< of patches
  int prefix = 0;    ///< tokens before the first patch

  bool class_token = false;

  /// The tokens that the head reads, as weights whose sum is 1; float32 [1, N]: the class token;
  /// for distilled models half of it and half of the distillation token; where patches are pooled
  /// alone, an equal part of each. A head that reads the class token beside the mean of patches
  /// counts as one that reads the class token.
  at::Tensor readout;

  // Filled by take_gradients. Pictures of a batch do not see each other, so that one backward pass
  // serves all of them.
  std::vector<std::int64_t> classes;         ///< [B]
  std::vector<at::Tensor> output_gradients;  ///< per layer [B, N, H * D]
  std::vector<at::Tensor> layer_gradients;   ///< per layer [B, N, H * D]
  at::Tensor norm1_gradient;                 ///< [B, N, C]
};

/// Runs the network once; in inference mode unless gradients are wanted. Then its weights must be
/// plain: packed ones give no gradients.
/// \param pixels [B, 3, H, W]
Recorded record(const model::VisionTransformer& network, const at::Tensor& pixels,
                const Wanted& wanted, kernels::Backend backend = kernels::Backend::automatic);

/// The wanted gradients of a class's logit by one backward pass; may be called again for other
/// classes.
/// \param classes one a picture
/// \throws std::invalid_argument when the network has no such class
void take_gradients(const model::VisionTransformer& network, Recorded& recorded,
                    const std::vector<std::int64_t>& classes);

}  // namespace vitascope::explain
