#include "app/neighbour_training.h"

#include <ATen/ATen.h>
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <tuple>
#include <utility>

#include "datasets/split.h"
#include "vit/error.h"
#include "vit/train/linear_head.h"
#include "vit/train/loss.h"
#include "vit/train/trainable.h"

namespace vitascope::app {
namespace {

using datasets::LabelledImages;
using model::NeighbourHead;

/// Cosines in memory at once, at most.
constexpr std::int64_t kCosines = std::int64_t{1} << 25;

void require_photos(const NeighbourOptions& options, std::int64_t photos) {
  if (options.count <= photos) return;
  throw UsageError(
      fmt::format("--neighbours {}: {} photos are for training: expected at most as many",
                  options.count, photos));
}

/// The photos ordered by class, as a head has them, and their targets in the same order.
std::pair<NeighbourHead, at::Tensor> head_of(const train::LinearSamples& training,
                                             const NeighbourOptions& options) {
  const at::Tensor labels = training.targets.argmax(1);
  const at::Tensor order = labels.argsort(/*stable=*/true, /*dim=*/0, /*descending=*/false);
  const at::Tensor counts = at::bincount(labels, {}, training.targets.size(1));
  NeighbourHead head;
  head.vote.count = options.count;
  head.vote.temperature = options.temperature;
  head.vote.photos.reserve(static_cast<std::size_t>(counts.numel()));
  for (std::int64_t c = 0; c < counts.numel(); ++c) {
    head.vote.photos.push_back(counts[c].item<int>());
  }
  head.features = model::unit_rows(training.features).index_select(0, order);
  return {std::move(head), training.targets.index_select(0, order)};
}

/// Logits of many photos. \param without_itself they are the photos of the head, and none has a
/// vote on itself
at::Tensor logits_of(const NeighbourHead& head, const at::Tensor& photos, bool without_itself) {
  const std::int64_t rows = std::max<std::int64_t>(1, kCosines / head.features.size(0));
  std::vector<at::Tensor> parts;
  parts.reserve(static_cast<std::size_t>(photos.size(0) / rows + 1));
  for (std::int64_t begin = 0; begin < photos.size(0); begin += rows) {
    at::Tensor cosines =
        head.cosines(photos.slice(0, begin, std::min(begin + rows, photos.size(0))));
    if (without_itself) cosines.diagonal(begin).fill_(-INFINITY);
    parts.push_back(head.logits_of(cosines));
  }
  return at::cat(parts);
}

weights::Model with_neighbours(const weights::Model& model, const NeighbourHead& head,
                               const std::vector<std::string>& labels) {
  weights::Model result = model;
  result.network = train::with_empty_head(
      model.network, {.classes = static_cast<int>(labels.size()), .neighbours = head.vote});
  const auto slots = result.network.parameters();
  const at::Device device = slots.front().second->device();
  for (const auto& [name, slot] : slots) {
    if (name == "head.features") *slot = head.features.to(device);
  }
  result.labels = labels;
  result.label_source = "the training data";
  return result;
}

double mean_loss(const at::Tensor& logits, const at::Tensor& targets) {
  return train::sample_losses(logits, targets, {}).mean().item<double>();
}

}  // namespace

void check_neighbours(const NeighbourOptions& options, const LabelledImages& images) {
  if (images.multi_label) {
    throw UsageError(
        "--method knn: the photos have several labels each: expected one, or --method head");
  }
  require_photos(options, std::ssize(datasets::samples_of(images, datasets::Split::train)));
}

NeighbourTraining keep_neighbours(const FrozenModel& model,
                                  const std::shared_ptr<const LabelledImages>& images,
                                  const NeighbourOptions& options) {
  using Clock = std::chrono::steady_clock;
  check_neighbours(options, *images);
  NeighbourTraining result;
  result.samples = frozen_samples(model, images, options.features, options.on_bad_image);
  if (result.samples.interrupted) return result;
  const auto start = Clock::now();
  const auto& [training, validation] = std::tie(result.samples.training, result.samples.validation);
  require_photos(options, training.features.size(0));  // some could not be used
  const auto [head, targets] = head_of(training, options);
  const at::Tensor logits = logits_of(head, head.features, /*without_itself=*/true);
  result.training_loss = mean_loss(logits, targets);
  result.training_score = train::validation_score(logits, targets, /*several=*/false);
  result.held_out_logits = logits_of(head, validation.features, /*without_itself=*/false);
  result.loss = mean_loss(result.held_out_logits, validation.targets);
  result.score =
      train::validation_score(result.held_out_logits, validation.targets, /*several=*/false);
  result.others =
      neighbour_scores(result.samples, options.others, options.temperature, /*several=*/false);
  result.model = with_neighbours(model.plain, head, images->classes);
  result.seconds = std::chrono::duration<double>(Clock::now() - start).count();
  return result;
}

}  // namespace vitascope::app
