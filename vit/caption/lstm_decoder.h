#pragma once

#include <utility>

#include "kernels/linear.h"
#include "vit/caption/alignment/alignment.h"
#include "vit/caption/alignment/gate.h"
#include "vit/caption/config.h"
#include "vit/caption/decoder_state.h"
#include "vit/caption/losses.h"
#include "vit/caption/selection.h"
#include "vit/caption/slots.h"
#include "vit/caption/teaching.h"

/// \file
/// The decoder of Show, Attend and Tell (Xu et al. 2015, arXiv:1502.03044), and Luong's.
namespace vitascope::caption {

/// What one step of an LSTM decoder gives.
struct LstmStep {
  at::Tensor hidden, cell;        ///< [R, n]
  at::Tensor features;            ///< [R, F] what the vocabulary layer reads
  at::Tensor context;             ///< [R, C] z, behind the gate
  at::Tensor weights;             ///< [R, L]
  at::Tensor place;               ///< int64 [R] of hard attention
  at::Tensor log_place, entropy;  ///< [R] of hard attention
};

/// An LSTM that looks at the annotations once a word.
class LstmDecoder {
 public:
  LstmDecoder() = default;
  /// Parameters are undefined until they are assigned through list().
  explicit LstmDecoder(const DecoderConfig& config);

  void list(Slots& slots);

  /// \see Decoder::pack
  void pack();

  /// Initial state from the mean of the annotations.
  DecoderState start(const Annotations& annotations) const;

  /// One step from `state`, which stays as it is.
  /// \param words [R, E] embedded
  LstmStep advance(const at::Tensor& words, const DecoderState& state, const Choice& choice) const;

  /// [..., F] -> [..., V]
  at::Tensor logits(const at::Tensor& features) const;

  /// \param tokens int64 [R] \return [R, E]
  at::Tensor embed(const at::Tensor& tokens) const;

  /// \param tokens int64 [B, T]
  Taught teach(const at::Tensor& tokens, const Annotations& annotations,
               const TeachOptions& options) const;

 private:
  /// \return hidden, cell
  std::pair<at::Tensor, at::Tensor> cell_step(const at::Tensor& words, const at::Tensor& beside,
                                              const DecoderState& state) const;
  LstmStep look(const at::Tensor& query, const DecoderState& state, const Choice& choice) const;
  at::Tensor deep_features(const at::Tensor& words, const LstmStep& step) const;

  DecoderConfig config_;
  at::Tensor embedding_;  ///< [V, E]
  Alignment attention_;
  Gate gate_;
  kernels::Weight init_h_, init_c_;             ///< [n, Da]
  kernels::Weight input_gates_, hidden_gates_;  ///< [4 n, inputs], [4 n, n]: gates i, f, g, o
  kernels::Weight hidden_out_, context_out_;    ///< L_h [E, n], L_z [E, C]
  kernels::Weight joined_out_;                  ///< W_c [n, C + n]
  kernels::Weight words_out_;                   ///< L_o [V, F]
};

}  // namespace vitascope::caption
