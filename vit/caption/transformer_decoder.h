#pragma once

#include "kernels/linear.h"
#include "vit/caption/alignment/multi_head.h"
#include "vit/caption/annotations.h"
#include "vit/caption/config.h"
#include "vit/caption/decoder_state.h"
#include "vit/caption/dropout.h"
#include "vit/caption/losses.h"
#include "vit/caption/slots.h"
#include "vit/caption/teaching.h"
#include "vit/model/norm.h"

/// \file
/// A Transformer decoder (Vaswani et al. 2017, arXiv:1706.03762), with the norms before the layers
/// as it trains without warm-up (Xiong et al. 2020, arXiv:2002.04745).
namespace vitascope::caption {

/// Causal self-attention, cross attention to the annotations, an MLP with ReLU.
struct TransformerLayer {
  model::LayerNorm norm1, norm2, norm3;
  kernels::Weight qkv;   ///< [3 W, W]: query rows, key rows, value rows
  kernels::Weight proj;  ///< [W, W]
  MultiHead cross;
  kernels::Weight fc1, fc2;  ///< [M, W], [W, M]
};

/// Words from words so far and from a photo.
class TransformerDecoder {
 public:
  TransformerDecoder() = default;
  /// Parameters are undefined until they are assigned through list().
  explicit TransformerDecoder(const DecoderConfig& config);

  void list(Slots& slots);

  /// \see Decoder::pack
  void pack();

  DecoderState start(const Annotations& annotations) const;

  /// What a pass gives: features [R, T, W], and weights of the last layer's cross attention, the
  /// mean of its heads, [R, T, L].
  struct Result {
    at::Tensor features, weights;
  };

  /// The next word of each row; the caches of `state` grow by it, its step does not.
  /// \param tokens int64 [R]
  Result advance(const at::Tensor& tokens, DecoderState& state) const;

  /// [..., W] -> [..., V]
  at::Tensor logits(const at::Tensor& features) const;

  /// \param tokens int64 [B, T]
  Taught teach(const at::Tensor& tokens, const Annotations& annotations,
               const TeachOptions& options) const;

 private:
  /// With `caches` tokens are [R, 1] and follow on those of `state`; else they are whole captions.
  Result pass(const at::Tensor& tokens, DecoderState& state, bool cached, bool weights,
              const Dropout& dropout) const;
  /// Tokens of which some are drawn from what a first pass says (Mihaylova and Martins 2019,
  /// arXiv:1906.07651).
  at::Tensor with_own_words(const at::Tensor& tokens, DecoderState& state,
                            const TeachOptions& options) const;
  at::Tensor self_attention(const TransformerLayer& layer, const at::Tensor& x, Cache* cache,
                            std::int64_t step) const;

  DecoderConfig config_;
  at::Tensor embedding_;  ///< [V, W]
  std::vector<TransformerLayer> layers_;
  model::LayerNorm norm_;
  kernels::Weight out_;  ///< [V, W]
};

}  // namespace vitascope::caption
