#pragma once

#include <ATen/core/Tensor.h>

#include "vit/caption/decoder_state.h"
#include "vit/random_numbers.h"

/// \file
/// Other attention in the place of a decoder's own, to see what depends on it (Jain and Wallace
/// 2019, arXiv:1902.10186).
///
/// A word reads sum_i alpha_i v_i. Weights that are permuted over the places give what the values
/// give that are permuted the other way, and equal weights what values give that are all their
/// mean. So a change is one of the values that a state holds; keys stay, and with them the weights
/// that the decoder finds. It serves every score, several heads, each layer of a transformer, and
/// hard attention, which takes the value of another place, or the mean.
namespace vitascope::caption {

/// What becomes of the weights of each photo, at every word alike.
struct AttentionChange {
  at::Tensor places;  ///< int64 [B, L]: the weight of place i falls on places[b][i]
  at::Tensor even;    ///< bool [B], true: on all places that are seen alike
};

/// All places in random order, but those that are hidden, which stay where they are.
/// \param seen bool [L] on the CPU; undefined: all are
/// \return int64 [count]
at::Tensor shuffled_places(std::int64_t count, const at::Tensor& seen, RandomNumbers& random);

/// Has what follows from `state`, one row a photo before its first word, look so. Weights of a
/// window keep their sum, and may fall outside it.
void change_attention(DecoderState& state, const AttentionChange& change);

/// Where weights fall.
/// \param weights [B, T, L] as the decoder gives them \param seen bool [B, L], or undefined
at::Tensor changed_weights(const at::Tensor& weights, const AttentionChange& change,
                           const at::Tensor& seen);

}  // namespace vitascope::caption
