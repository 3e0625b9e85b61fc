#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <span>
#include <vector>

/// \file
/// Classes of a photo from the most similar photos that have labels: nothing is trained.
namespace vitascope::train {

/// Photos with labels.
struct LabelledNeighbours {
  at::Tensor features;  ///< [n, F]
  at::Tensor targets;   ///< [n, K] as targets_of gives them
};

/// The weighted vote of the k nearest by the cosine of features: each votes for its classes with
/// exp(cosine / temperature) (Wu et al. 2018, arXiv:1805.01978; DINO, arXiv:2104.14294).
/// \param queries [m, F]
/// \param ks      numbers of neighbours; more than n are all
/// \return for each k the classes' shares in the votes, [m, K] float32; with one label a photo they
///         sum to 1
/// \throws std::invalid_argument when shapes don't fit or there are no neighbours
/// \throws UsageError when a k or the temperature is not positive
std::vector<at::Tensor> neighbour_votes(const LabelledNeighbours& neighbours,
                                        const at::Tensor& queries, std::span<const std::int64_t> ks,
                                        double temperature = 0.07);

}  // namespace vitascope::train
