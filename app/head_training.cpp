#include "app/head_training.h"

#include <ATen/ATen.h>
#include <fmt/format.h>

#include <chrono>
#include <utility>

#include "datasets/split.h"
#include "vit/error.h"
#include "vit/train/nearest_neighbours.h"
#include "vit/train/trainable.h"

namespace vitascope::app {
namespace {

using datasets::LabelledImages;
using datasets::Split;
using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

void require_labels(const LabelledImages& images) {
  if (images.classes.size() < 2) {
    throw UsageError(fmt::format("a head needs two classes or more to tell apart; {} {}",
                                 images.source, images.classes.empty() ? "has none" : "has one"));
  }
}

/// The rows of `features` that belong to `split`, with what they show.
train::LinearSamples part_of(const Features& features, const std::vector<std::size_t>& asked,
                             const LabelledImages& images, Split split) {
  std::vector<std::int64_t> rows;
  std::vector<std::vector<std::int64_t>> labels;
  std::vector<double> weights;
  rows.reserve(features.samples.size());
  labels.reserve(features.samples.size());
  weights.reserve(features.samples.size());
  for (std::size_t row = 0; row < features.samples.size(); ++row) {
    const datasets::Sample& sample = images.samples[asked[features.samples[row]]];
    if (sample.split != split) continue;
    rows.push_back(static_cast<std::int64_t>(row));
    labels.emplace_back(sample.labels.begin(), sample.labels.end());
    weights.push_back(sample.weight);
  }
  if (rows.empty()) {
    throw UsageError(
        fmt::format("no photo for {} could be used; a head needs photos for training "
                    "and for validation",
                    split == Split::train ? "training" : "validation"));
  }
  return {features.values.index_select(0, at::tensor(rows, at::kLong)),
          train::targets_of(labels, std::ssize(images.classes)), at::tensor(weights, at::kDouble)};
}

std::vector<NeighbourScore> neighbour_scores(const train::LinearSamples& training,
                                             const train::LinearSamples& validation,
                                             const HeadTrainingOptions& options, bool several) {
  const std::vector<at::Tensor> votes = train::neighbour_votes(
      {training.features, training.targets}, validation.features, options.neighbours);
  std::vector<NeighbourScore> scores;
  scores.reserve(votes.size());
  for (std::size_t i = 0; i < votes.size(); ++i) {
    scores.push_back(
        {options.neighbours[i], train::validation_score(votes[i], validation.targets, several)});
  }
  return scores;
}

void report_failures(const Features& features, datasets::OnBadImage on_bad_image) {
  if (features.failed == 0 || on_bad_image == datasets::OnBadImage::skip) return;
  throw FailureError(fmt::format(
      "{} photos could not be used (named above); --on-bad-image skip trains without them",
      features.failed));
}

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
  require_labels(*images);
  std::vector<std::size_t> samples = datasets::samples_of(*images, Split::train);
  const std::vector<std::size_t> held_out = datasets::samples_of(*images, Split::validation);
  samples.insert(samples.end(), held_out.begin(), held_out.end());

  const auto start = Clock::now();
  const Features features = features_of(model, images, samples, options.features);
  HeadTraining result;
  result.computed = features.computed;
  result.failed = features.failed;
  result.feature_seconds = seconds_since(start);
  if (features.interrupted) return result;
  report_failures(features, options.on_bad_image);

  const auto head_start = Clock::now();
  const train::LinearSamples training = part_of(features, samples, *images, Split::train);
  const train::LinearSamples validation = part_of(features, samples, *images, Split::validation);
  result.training = static_cast<std::size_t>(training.features.size(0));
  result.validation = static_cast<std::size_t>(validation.features.size(0));
  result.trained = train::train_linear_head(training, validation, options.head);
  const at::Tensor logits = result.trained.head.logits(training.features);
  const auto loss = train::sample_losses(logits, training.targets, options.head.loss);
  result.training_loss = loss.mean().item<double>();
  result.held_out_logits = result.trained.head.logits(validation.features);
  for (const std::size_t row : features.samples) {
    if (images->samples[samples[row]].split == Split::validation) {
      result.held_out.push_back(samples[row]);
    }
  }
  result.training_score = train::validation_score(logits, training.targets, images->multi_label);
  result.neighbours = neighbour_scores(training, validation, options, images->multi_label);
  result.head_seconds = seconds_since(head_start);
  result.model = with_head(model.plain, result.trained.head, images->classes, images->multi_label);
  return result;
}

}  // namespace vitascope::app
