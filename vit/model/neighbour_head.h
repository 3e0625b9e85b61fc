#pragma once

#include <ATen/core/Tensor.h>

#include "vit/model/config.h"

/// \file
/// Features -> logits by the most similar of photos that have labels: a head without training.
namespace vitascope::model {

/// Rows of length 1, float32; a row of zeros stays one. Products of such rows are cosines.
/// \param rows [n, F]
at::Tensor unit_rows(const at::Tensor& rows);

/// The weighted vote of the nearest photos (Wu et al. 2018, arXiv:1805.01978; DINO,
/// arXiv:2104.14294) as a head: the logit of a class is the log-sum-exp of cosine / temperature
/// over those of the nearest photos that show it, so that the softmax of logits gives the classes'
/// shares in the votes, and gradients flow through the cosines.
struct NeighbourHead {
  NeighbourVote vote;
  at::Tensor features;  ///< [photos, F] rows of length 1, ordered by class; undefined: no such head

  /// [B, F] -> [B, photos]
  at::Tensor cosines(const at::Tensor& queries) const;

  /// A class without a vote gets a billionth of the nearest photo's, so that no logit is infinite.
  /// \param cosines [B, photos]; -inf: this photo has no vote
  /// \return [B, classes] float32
  at::Tensor logits_of(const at::Tensor& cosines) const;

  /// [B, F] -> [B, classes]
  at::Tensor logits(const at::Tensor& queries) const { return logits_of(cosines(queries)); }
};

}  // namespace vitascope::model
