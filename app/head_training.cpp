#include "app/head_training.h"

#include <ATen/ATen.h>

#include <chrono>
#include <tuple>

#include "vit/train/trainable.h"

namespace vitascope::app {
namespace {

using datasets::LabelledImages;
using Clock = std::chrono::steady_clock;

/// Puts a head into its place. DeiT distilled answers with the mean of two heads, each on a token
/// of its own: each is twice the half of the weights that is for its token.
void set_head(const std::string& name, const train::LinearHead& head, bool two, at::Tensor& slot) {
  if (name == "head.bias" || name == "head_dist.bias") slot = head.bias;
  if (!two && name == "head.weight") slot = head.weight;
  if (!two) return;
  const std::vector<at::Tensor> halves = head.weight.chunk(2, 1);
  if (name == "head.weight") slot = (halves[0] * 2).contiguous();
  if (name == "head_dist.weight") slot = (halves[1] * 2).contiguous();
}

}  // namespace

weights::Model with_head(const weights::Model& model, const train::LinearHead& head,
                         const std::vector<std::string>& labels, bool multi_label) {
  weights::Model result = model;
  result.network = train::with_empty_head(
      model.network,
      {.classes = static_cast<int>(labels.size()), .multi_label = multi_label, .bias = true});
  const auto slots = result.network.parameters();
  const at::Tensor& like = *slots.front().second;
  const train::LinearHead placed{head.weight.to(like.device(), like.scalar_type()),
                                 head.bias.to(like.device(), like.scalar_type())};
  const bool two = model.network.config().pooling == model::Pooling::first_two;
  for (const auto& [name, slot] : slots) set_head(name, placed, two, *slot);
  result.labels = labels;
  result.label_source = "the training data";
  return result;
}

HeadTraining train_head(const FrozenModel& model,
                        const std::shared_ptr<const LabelledImages>& images,
                        const HeadTrainingOptions& options) {
  HeadTraining result;
  result.samples = frozen_samples(model, images, options.features, options.on_bad_image);
  if (result.samples.interrupted) return result;
  const auto start = Clock::now();
  const auto& [training, validation] = std::tie(result.samples.training, result.samples.validation);
  const bool several = images->multi_label;
  result.trained = train::train_linear_head(training, validation, options.head);
  const at::Tensor logits = result.trained.head.logits(training.features);
  const auto loss = train::sample_losses(logits, training.targets, options.head.loss);
  result.training_loss = loss.mean().item<double>();
  result.held_out_logits = result.trained.head.logits(validation.features);
  result.training_score = train::validation_score(logits, training.targets, several);
  result.neighbours =
      neighbour_scores(result.samples, options.neighbours, options.temperature, several);
  result.seconds = std::chrono::duration<double>(Clock::now() - start).count();
  result.model = with_head(model.plain, result.trained.head, images->classes, several);
  return result;
}

}  // namespace vitascope::app
