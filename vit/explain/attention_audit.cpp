#include "vit/explain/attention_audit.h"

#include <ATen/ATen.h>
#include <c10/core/GradMode.h>
#include <torch/csrc/autograd/autograd.h>

#include <algorithm>
#include <cmath>
#include <numbers>

#include "vit/explain/map.h"
#include "vit/explain/statistics.h"
#include "vit/random_numbers.h"

namespace vitascope::explain {
namespace {

/// What a step too far costs beside the divergence, which is at most ln 2.
constexpr double kPenalty = 10;
/// The share of epsilon that the penalty leaves free: a little room for the last steps to land in.
constexpr double kRoom = 0.98;
constexpr double kFirstRate = 0.3;  ///< Adam's, in logits; it falls to 0 by a half cosine

/// The most probable class, of equal ones the first.
std::ptrdiff_t leader(const std::vector<double>& answer) {
  return std::ranges::max_element(answer) - answer.begin();
}

/// sum p ln(p / m) over tokens; m is 0 only where p is.
at::Tensor divergence_to(const at::Tensor& p, const at::Tensor& m) {
  return (at::xlogy(p, p) - at::xlogy(p, m)).sum(-1);
}

/// The mean over rows.
at::Tensor divergence_of(const at::Tensor& p, const at::Tensor& q) {
  const at::Tensor m = (p + q) / 2;
  return ((divergence_to(p, m) + divergence_to(q, m)) / 2).mean();
}

at::Tensor distance_of(const at::Tensor& a, const at::Tensor& b) { return (a - b).abs().sum() / 2; }

/// Adam's step (Kingma & Ba 2015) with a short memory for squares, as the slope changes its sign
/// wherever the answer leaves epsilon.
class Adam {
 public:
  explicit Adam(const at::Tensor& like) : mean_(at::zeros_like(like)), square_(mean_.clone()) {}

  at::Tensor step(const at::Tensor& gradient) {
    ++steps_;
    mean_ = 0.9 * mean_ + 0.1 * gradient;
    square_ = 0.99 * square_ + 0.01 * gradient.square();
    const at::Tensor mean = mean_ / (1 - std::pow(0.9, steps_));
    const at::Tensor square = square_ / (1 - std::pow(0.99, steps_));
    return mean / (square.sqrt() + 1e-8);
  }

 private:
  at::Tensor mean_, square_;
  int steps_ = 0;
};

/// Logits to start from: first the real weights, moved a little (where both are equal the
/// divergence has no slope), then far from them, because the divergence has a peak in every
/// direction.
at::Tensor starting_logits(const at::Tensor& weights, bool near, RandomNumbers& random) {
  at::Tensor noise = at::empty(weights.sizes(), at::kDouble);
  double* values = noise.mutable_data_ptr<double>();
  for (std::int64_t i = 0; i < noise.numel(); ++i) values[i] = 2 * random.uniform() - 1;
  noise = noise.to(weights.options());
  return near ? weights.clamp_min(1e-9).log() + 0.1 * noise : 5 * noise;
}

/// One start's steps; better weights replace `best`.
void climb(const AnswerToWeights& answer, const at::Tensor& real, at::Tensor logits,
           const AdversaryOptions& options, Adversary& best) {
  const at::Tensor real_answer = answer(real).detach();
  Adam adam(logits);
  for (std::int64_t step = 0; step < options.steps; ++step) {
    const at::Tensor free = logits.detach().requires_grad_(true);
    const at::Tensor other = free.softmax(-1);
    const at::Tensor divergence = divergence_of(real, other);
    const at::Tensor distance = distance_of(answer(other), real_answer);
    const auto moved = distance.item<double>();
    const auto apart = divergence.item<double>();
    if (moved <= options.epsilon && apart > best.divergence) {
      best = {other.detach(), apart, moved};
    }
    const at::Tensor loss = kPenalty * (distance - kRoom * options.epsilon).relu() - divergence;
    const double done = static_cast<double>(step) / static_cast<double>(options.steps);
    const double rate = kFirstRate * (1 + std::cos(std::numbers::pi * done)) / 2;
    logits = logits - rate * adam.step(torch::autograd::grad({loss}, {free})[0]);
  }
}

}  // namespace

std::vector<std::vector<std::int64_t>> shuffles(std::int64_t tokens, std::int64_t count,
                                                std::uint64_t seed) {
  RandomNumbers random(seed);
  std::vector<std::vector<std::int64_t>> result(static_cast<std::size_t>(count));
  for (auto& permutation : result) permutation = random.permutation(tokens);
  return result;
}

PermutationAudit permutation_audit(const AnswerToWeights& answer, const at::Tensor& weights,
                                   const std::vector<std::vector<std::int64_t>>& permutations) {
  const std::vector<double> real = numbers<double>(answer(weights));
  PermutationAudit audit;
  double flipped = 0;
  audit.distances.reserve(permutations.size());
  for (const std::vector<std::int64_t>& permutation : permutations) {
    const at::Tensor index = at::tensor(permutation, at::kLong).to(weights.device());
    const std::vector<double> other = numbers<double>(answer(weights.index_select(-1, index)));
    audit.distances.push_back(total_variation_distance(real, other));
    if (leader(other) != leader(real)) ++flipped;
  }
  audit.median = median(audit.distances);
  audit.flipped = flipped / static_cast<double>(permutations.size());
  return audit;
}

double uniform_distance(const AnswerToWeights& answer, const at::Tensor& weights) {
  const at::Tensor uniform = at::full_like(weights, 1.0 / static_cast<double>(weights.size(-1)));
  return total_variation_distance(numbers<double>(answer(weights)),
                                  numbers<double>(answer(uniform)));
}

Adversary adversarial_weights(const AnswerToWeights& answer, const at::Tensor& weights,
                              const AdversaryOptions& options) {
  const c10::AutoGradMode recorded(true);
  const at::Tensor real = weights.detach().clone();  // recorded weights may be of inference mode
  Adversary best{real, 0, 0};
  RandomNumbers random(options.seed);
  for (std::int64_t start = 0; start < options.starts; ++start) {
    climb(answer, real, starting_logits(real, start == 0, random), options, best);
  }
  return best;
}

}  // namespace vitascope::explain
