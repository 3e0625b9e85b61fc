#include "app/frozen_samples.h"

#include <ATen/ATen.h>
#include <fmt/format.h>

#include <chrono>
#include <tuple>

#include "datasets/split.h"
#include "vit/error.h"
#include "vit/train/linear_head.h"
#include "vit/train/nearest_neighbours.h"

namespace vitascope::app {
namespace {

using datasets::LabelledImages;
using datasets::Split;

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

void report_failures(const Features& features, datasets::OnBadImage on_bad_image) {
  if (features.failed == 0 || on_bad_image == datasets::OnBadImage::skip) return;
  throw FailureError(fmt::format(
      "{} photos could not be used (named above); --on-bad-image skip trains without them",
      features.failed));
}

}  // namespace

FrozenSamples frozen_samples(const FrozenModel& model,
                             const std::shared_ptr<const LabelledImages>& images,
                             const FeatureOptions& options, datasets::OnBadImage on_bad_image) {
  using Clock = std::chrono::steady_clock;
  require_labels(*images);
  std::vector<std::size_t> asked = datasets::samples_of(*images, Split::train);
  const std::vector<std::size_t> held_out = datasets::samples_of(*images, Split::validation);
  asked.insert(asked.end(), held_out.begin(), held_out.end());

  const auto start = Clock::now();
  const Features features = features_of(model, images, asked, options);
  FrozenSamples samples;
  samples.computed = features.computed;
  samples.failed = features.failed;
  samples.seconds = std::chrono::duration<double>(Clock::now() - start).count();
  samples.interrupted = features.interrupted;
  if (features.interrupted) return samples;
  report_failures(features, on_bad_image);
  samples.training = part_of(features, asked, *images, Split::train);
  samples.validation = part_of(features, asked, *images, Split::validation);
  samples.held_out.reserve(held_out.size());
  for (const std::size_t row : features.samples) {
    if (images->samples[asked[row]].split == Split::validation) {
      samples.held_out.push_back(asked[row]);
    }
  }
  return samples;
}

std::vector<NeighbourScore> neighbour_scores(const FrozenSamples& samples,
                                             const std::vector<std::int64_t>& ks,
                                             double temperature, bool several) {
  const auto& [training, validation] = std::tie(samples.training, samples.validation);
  const std::vector<at::Tensor> votes = train::neighbour_votes(
      {training.features, training.targets}, validation.features, ks, temperature);
  std::vector<NeighbourScore> scores;
  scores.reserve(votes.size());
  for (std::size_t i = 0; i < votes.size(); ++i) {
    scores.push_back({ks[i], train::validation_score(votes[i], validation.targets, several)});
  }
  return scores;
}

}  // namespace vitascope::app
