#pragma once

#include <ATen/core/Tensor.h>

#include "vit/random_numbers.h"

/// \file
/// What is drawn at random: words, and the one place that hard attention looks at (Xu et al. 2015,
/// arXiv:1502.03044, section 4.1).
namespace vitascope::caption {

/// One of K for each row, by its probabilities, which need not sum to 1.
/// \param probabilities [N, K]; a row of zeros gives 0
/// \return int64 [N] on the same device
at::Tensor draw(const at::Tensor& probabilities, RandomNumbers& random);

/// bool [count], each true with this probability.
at::Tensor lots(std::int64_t count, double probability, RandomNumbers& random);

/// How places are chosen.
struct Choice {
  RandomNumbers* random = nullptr;  ///< draws; nothing: the likeliest place is taken
  at::Tensor places{};              ///< int64 [R], chosen beforehand; undefined: drawn
  at::Tensor expected{};  ///< bool [R], true: the expectation is taken instead; undefined: none
};

/// What was chosen, and what its gradient needs.
struct Chosen {
  at::Tensor context;    ///< [R, D]
  at::Tensor place;      ///< int64 [R]
  at::Tensor log_place;  ///< [R], log probability of the place; 0 where the expectation was taken
  at::Tensor entropy;    ///< [R], of the weights, in nats
};

/// \param weights [B, Q, L] \param values [B, L, D]; R = B * Q
Chosen choose(const at::Tensor& weights, const at::Tensor& values, const Choice& choice);

}  // namespace vitascope::caption
