#pragma once

#include <ATen/core/Tensor.h>

/// \file
/// What a decoder of captions learns from.
namespace vitascope::caption {

/// What a decoder gives for captions whose words it was told.
struct Taught {
  at::Tensor logits;   ///< [B, T, V] for the word after each
  at::Tensor weights;  ///< [B, T, L] where each word looked
  at::Tensor
      log_places;        ///< [B, T] hard attention: log probabilities of the places; else undefined
  at::Tensor entropies;  ///< [B, T] hard attention: of its weights
};

/// lambda mean_b sum_i (1 - sum_t alpha_ti)^2: every place is to be looked at as much as any other
/// (doubly stochastic attention, Xu et al. 2015, arXiv:1502.03044, equation 14).
/// \param weights [B, T, L] \param live bool [B, T], the words that count
at::Tensor doubly_stochastic_penalty(const at::Tensor& weights, const at::Tensor& live,
                                     double lambda);

/// Losses of captions.
struct CaptionLosses {
  at::Tensor log_likelihood;  ///< [B], sum over the caption's words
  at::Tensor penalty;         ///< scalar: lambda mean_b sum_i (1 - sum_t alpha_ti)^2
  std::int64_t words = 0;     ///< that count
};

/// The log-likelihood of captions, and the penalty where lambda is not 0.
/// \param targets int64 [B, T], the word after each; 0 (<pad>) counts nothing
CaptionLosses caption_losses(const Taught& taught, const at::Tensor& targets, double lambda);

/// The variational lower bound's Monte Carlo estimate (the same paper, equations 11 and 12).
struct HardOptions {
  double reward = 1;      ///< lambda_r
  double entropy = 0.01;  ///< lambda_e
};

/// The moving average of log-likelihoods: b <- 0.9 b + 0.1 mean log p.
struct Baseline {
  double value = 0;
  /// \param log_words [N]
  void follow(const at::Tensor& log_words);
};

/// What is to grow, one number a sample: log p(y|s) + lambda_r (log p(y|s) - b) log p(s) +
/// lambda_e H, where reward and baseline are constants to the gradient (Williams 1992).
/// \param log_words, log_places, entropies of one shape; sums over a caption's words
at::Tensor hard_objective(const at::Tensor& log_words, const at::Tensor& log_places,
                          const at::Tensor& entropies, double baseline, const HardOptions& options);

/// The same of captions: sums over the words that count.
/// \param log_likelihood as caption_losses gave it \return [B]
at::Tensor hard_objective(const Taught& taught, const at::Tensor& targets,
                          const at::Tensor& log_likelihood, double baseline,
                          const HardOptions& options);

}  // namespace vitascope::caption
