#include "vit/caption/losses.h"

#include <ATen/ATen.h>

namespace vitascope::caption {
namespace {

constexpr std::int64_t kPad = 0;
constexpr double kMemory = 0.9;

}  // namespace

at::Tensor doubly_stochastic_penalty(const at::Tensor& weights, const at::Tensor& live,
                                     double lambda) {
  const at::Tensor looked = (weights * live.unsqueeze(-1)).sum(1);  // [B, L]
  return (1 - looked).square().sum(1).mean() * lambda;
}

CaptionLosses caption_losses(const Taught& taught, const at::Tensor& targets, double lambda) {
  const at::Tensor live = targets != kPad;
  const at::Tensor loss = at::cross_entropy_loss(taught.logits.flatten(0, 1), targets.flatten(), {},
                                                 at::Reduction::None, kPad);
  CaptionLosses losses;
  losses.log_likelihood = -loss.view_as(targets).sum(1);
  losses.words = live.sum().item<std::int64_t>();
  if (taught.weights.defined() && lambda != 0) {
    losses.penalty = doubly_stochastic_penalty(taught.weights, live, lambda);
  } else {
    losses.penalty = at::zeros({}, taught.logits.options());
  }
  return losses;
}

void Baseline::follow(const at::Tensor& log_words) {
  value = kMemory * value + (1 - kMemory) * log_words.detach().mean().item<double>();
}

at::Tensor hard_objective(const at::Tensor& log_words, const at::Tensor& log_places,
                          const at::Tensor& entropies, double baseline,
                          const HardOptions& options) {
  const at::Tensor advantage = log_words.detach() - baseline;
  return log_words + advantage * log_places * options.reward + entropies * options.entropy;
}

at::Tensor hard_objective(const Taught& taught, const at::Tensor& targets,
                          const at::Tensor& log_likelihood, double baseline,
                          const HardOptions& options) {
  const at::Tensor live = (targets != kPad).to(taught.logits.scalar_type());
  return hard_objective(log_likelihood, (taught.log_places * live).sum(1),
                        (taught.entropies * live).sum(1), baseline, options);
}

}  // namespace vitascope::caption
