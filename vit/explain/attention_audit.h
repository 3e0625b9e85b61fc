#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <functional>
#include <vector>

/// \file
/// Is attention an explanation here? Other weights are put in the place of the real ones, and the
/// model is asked again (Jain & Wallace 2019, arXiv:1902.10186; Wiegreffe & Pinter 2019,
/// arXiv:1908.04626). Answers are compared by their total variation distance.
namespace vitascope::explain {

/// The model's answer where rows of attention weights [H, N], or [H, R, N] for several queries
/// (each row sums to 1), stand in for its own: probabilities [classes].
using AnswerToWeights = std::function<at::Tensor(const at::Tensor& weights)>;

/// `count` seeded shuffles of `tokens` tokens.
std::vector<std::vector<std::int64_t>> shuffles(std::int64_t tokens, std::int64_t count,
                                                std::uint64_t seed);

/// What shuffling the weights does to the answer.
struct PermutationAudit {
  std::vector<double> distances;  ///< one a permutation
  double median = 0;
  double flipped = 0;  ///< the share of permutations after which another class leads
};

/// Asks for alpha'[.., j] = alpha[.., perm[j]] with each permutation, the same for all rows.
PermutationAudit permutation_audit(const AnswerToWeights& answer, const at::Tensor& weights,
                                   const std::vector<std::vector<std::int64_t>>& permutations);

/// How far the answer moves when each head attends to all tokens alike.
double uniform_distance(const AnswerToWeights& answer, const at::Tensor& weights);

/// The bounds of a search for adversarial weights.
struct AdversaryOptions {
  double epsilon = 0.05;     ///< how far the answer may move
  std::int64_t steps = 300;  ///< of each start
  std::int64_t starts = 4;   ///< from the real weights, then from random ones
  std::uint64_t seed = 0;
};

/// Other weights with nearly the same answer.
struct Adversary {
  at::Tensor weights;     ///< of the real ones' shape
  double divergence = 0;  ///< from the real ones: Jensen-Shannon, nats, the mean over rows
  double distance = 0;    ///< of the answers; at most epsilon
};

/// Looks for the weights that differ most from the real ones while the answer stays within epsilon.
/// Rows are softmaxes of free logits, moved by Adam (Kingma & Ba 2015) up the divergence and, where
/// the answer has gone too far, back; the best of the steps that kept within epsilon is returned,
/// at worst the real weights themselves. A lower bound: there may be worse adversaries. \param
/// answer differentiable; called outside inference mode
Adversary adversarial_weights(const AnswerToWeights& answer, const at::Tensor& weights,
                              const AdversaryOptions& options = {});

}  // namespace vitascope::explain
