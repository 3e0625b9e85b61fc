#pragma once

#include <ATen/core/Tensor.h>

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "vit/model/block.h"
#include "vit/model/config.h"
#include "vit/model/forward_options.h"
#include "vit/model/heads.h"
#include "vit/model/patch_embedding.h"

/// \file
/// The vision transformer (Dosovitskiy et al. 2021, arXiv:2010.11929) and its descendants DeiT,
/// DeiT III and DINOv2: one struct, one forward.
namespace vitascope::model {

/// What a forward pass gives.
struct Output {
  at::Tensor tokens;    ///< [B, N, C] after the final norm (timm: forward_features)
  at::Tensor features;  ///< [B, F] what the head reads; DeiT distilled: [B, 2, C]
  at::Tensor logits;    ///< [B, classes] float32; undefined without a head
};

/// The network. A value: copies share their parameters, as tensors do.
class VisionTransformer {
 public:
  VisionTransformer() = default;
  /// Shapes only: parameters are undefined until they are assigned through parameters().
  explicit VisionTransformer(Config config);

  const Config& config() const { return config_; }

  /// Name (timm's) and slot of every parameter, in the order of parameter_shapes(config()).
  std::vector<std::pair<std::string, at::Tensor*>> parameters();

  /// Name and weights of every product in the blocks (`blocks.3.attn.qkv`): where the time goes,
  /// what kernels::pack is for, and what may have a low-rank addition.
  std::vector<std::pair<std::string, kernels::Weight*>> products();

  /// \param pixels float32 [B, 3, H, W]; H and W may differ from the model's own input size, and
  ///        the position embedding is then interpolated by the family's rule
  /// \throws std::invalid_argument when H or W is not a multiple of the patch edge
  Output forward(const at::Tensor& pixels, const ForwardOptions& options = {}) const;

  /// The rest of a forward pass.
  /// \param hidden      [B, N, C] that block `first_block` reads: hidden_states[first_block]
  /// \param first_block 0 to depth; depth: the final norm and the head alone
  Output forward_from(const at::Tensor& hidden, int first_block,
                      const ForwardOptions& options = {}) const;

  /// Probabilities of logits: softmax, or sigmoid for multi-label models.
  at::Tensor probabilities(const at::Tensor& logits) const;

 private:
  Config config_;
  PatchEmbedding patch_embed_;
  LayerNorm norm_pre_;
  std::vector<Block> blocks_;
  LayerNorm norm_;
  Head head_;
};

}  // namespace vitascope::model
