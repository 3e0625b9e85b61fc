#include "app/finetune_data.h"

#include <ATen/ATen.h>
#include <fmt/format.h>
#include <zlib.h>

#include <array>
#include <filesystem>
#include <tuple>
#include <utility>

#include "app/data_report.h"
#include "app/device.h"
#include "app/output.h"
#include "datasets/open_labelled.h"
#include "datasets/split.h"
#include "vit/error.h"
#include "vit/text.h"
#include "vit/train/class_weights.h"
#include "vit/train/linear_head.h"

namespace vitascope::app {
namespace {

using datasets::LabelledImages;
using datasets::Split;

datasets::PhotoRecipe recipe_of(const image::Specification& specification,
                                const FinetuneOptions& options) {
  return {.specification = specification,
          .augmentation = augmentation(options),
          .decode = {options.max_pixels, options.allow_truncated},
          .seed = options.seed};
}

datasets::TrainingLoaderOptions loader_options(const FinetuneOptions& options, int threads,
                                               const train::ProcessGroup* group) {
  datasets::Shard shard;
  if (group != nullptr) {
    shard = {static_cast<std::size_t>(group->seat().rank),
             static_cast<std::size_t>(group->seat().processes)};
  }
  const auto batch = static_cast<std::size_t>(options.run.batch_size);
  return {.batch_size = batch,
          .threads = threads,
          .ahead = (3 * batch + shard.processes - 1) / shard.processes,
          .shard = shard,
          .on_bad_image = options.on_bad_image == "skip" ? datasets::OnBadImage::skip
                                                         : datasets::OnBadImage::error};
}

/// float32 [B, classes]
at::Tensor soft_targets(const at::Tensor& targets, std::int64_t classes) {
  if (targets.dim() == 2) return targets;
  return at::zeros({targets.size(0), classes}, at::kFloat).scatter_(1, targets.unsqueeze(1), 1);
}

std::string plural(std::size_t count, const char* what) {
  return fmt::format("{} {}{}", count, what, count == 1 ? "" : "s");
}

}  // namespace

std::shared_ptr<const LabelledImages> open_training_data(const FinetuneOptions& options) {
  auto images = std::make_shared<LabelledImages>();
  try {
    *images = datasets::open_labelled(options.data);
  } catch (const InputError& error) {
    throw UsageError(error.what());
  }
  if (images->classes.size() < 2) {
    throw UsageError(fmt::format(
        "{}: holds {}: expected photos of two classes or more", printable(options.data),
        plural(images->classes.size(), "class") + (images->classes.empty() ? "es" : "")));
  }
  if (datasets::samples_of(*images, Split::validation).empty()) {
    datasets::split_validation(*images, options.val_fraction, options.seed);
  }
  for (datasets::Sample& sample : images->samples) {
    if (sample.split == Split::none) sample.split = Split::train;
  }
  if (datasets::samples_of(*images, Split::train).empty()) {
    throw UsageError(printable(options.data) + ": holds no photos to learn from");
  }
  if (options.run.quiet) return images;
  for (const std::string& note : images->notes) output::note(note);
  for (const std::string& line : datasets::uneven_classes(*images)) output::warning(line);
  output::print(describe_data(*images));
  return images;
}

std::string data_fingerprint(const LabelledImages& images) {
  std::uint32_t sum = 0;
  for (const datasets::Sample& sample : images.samples) {
    // Without its folder: the data may have moved.
    std::string text =
        fmt::format("{} {} {}", std::filesystem::path(sample.path).filename().string(),
                    datasets::split_name(sample.split), sample.weight);
    for (const int label : sample.labels) text += fmt::format(" {}", label);
    sum = static_cast<std::uint32_t>(
        ::crc32_z(sum, reinterpret_cast<const Bytef*>(text.data()), text.size()));
  }
  return fmt::format("{} photos {:08x}", images.samples.size(), sum);
}

at::Tensor class_weights(const FinetuneOptions& options, const LabelledImages& images) {
  if (options.class_weights == "none") return {};
  std::vector<std::int64_t> counts;
  for (const datasets::SplitCounts& of_class : datasets::count_classes(images)) {
    counts.push_back(static_cast<std::int64_t>(of_class[static_cast<std::size_t>(Split::train)]));
  }
  const std::vector<double> weights = options.class_weights == "inverse"
                                          ? train::inverse_class_weights(counts)
                                          : train::effective_number_weights(counts);
  return at::tensor(weights, at::kDouble).to(at::kFloat);
}

FinetuneData::FinetuneData(std::shared_ptr<const LabelledImages> images,
                           const image::Specification& specification,
                           const FinetuneOptions& options, int threads, train::ProcessGroup* group)
    : images_(std::move(images)),
      group_(group),
      validation_(recipe_of(specification, options)),
      options_(loader_options(options, threads, group)),
      held_out_(datasets::samples_of(*images_, Split::validation)),
      loader_(images_, datasets::samples_of(*images_, Split::train), validation_, options_) {
  validation_.augmentation = image::Augmentation{};
  validation_.augmentation.crop.reset();
  validation_.augmentation.flip = 0;
}

train::Batch FinetuneData::batch_of(datasets::TrainingBatch loaded) const {
  train::Batch batch{
      .pixels = std::move(loaded.pixels),
      .targets = soft_targets(loaded.targets, static_cast<std::int64_t>(images_->classes.size())),
      .weights = std::move(loaded.weights)};
  batch.names.reserve(loaded.samples.size());
  for (const std::size_t sample : loaded.samples) {
    batch.names.push_back(images_->samples[sample].path);
  }
  for (const datasets::SkippedPhoto& photo : loaded.skipped) {
    output::warning(fmt::format("{}: {}; left out", photo.path, photo.message));
  }
  return batch;
}

std::optional<train::Batch> FinetuneData::next() {
  std::optional<datasets::TrainingBatch> loaded = loader_.next();
  if (!loaded) return std::nullopt;
  return batch_of(std::move(*loaded));
}

train::Metrics FinetuneData::validate(const model::VisionTransformer& network,
                                      kernels::Backend backend) const {
  datasets::TrainingLoader loader(images_, held_out_, validation_, options_);
  const at::Device device = device_of(network);
  const train::LossOptions loss{.kind = images_->multi_label ? train::LossKind::binary
                                                             : train::LossKind::cross_entropy};
  double sum = 0;
  double right = 0;
  double count = 0;
  std::vector<at::Tensor> scores;
  std::vector<at::Tensor> targets;
  while (std::optional<datasets::TrainingBatch> loaded = loader.next()) {
    const train::Batch batch = batch_of(std::move(*loaded));
    if (batch.names.empty()) continue;
    const at::Tensor logits =
        network.forward(batch.pixels.to(device), {.backend = backend}).logits.cpu();
    sum += train::sample_losses(logits, batch.targets, loss).values.sum().item<double>();
    right += (logits.argmax(1) == batch.targets.argmax(1)).sum().item<double>();
    count += static_cast<double>(batch.names.size());
    if (!images_->multi_label) continue;
    scores.push_back(logits);
    targets.push_back(batch.targets);
  }
  if (group_ != nullptr) {
    std::array<double, 3> sums{sum, right, count};
    group_->sum(sums);
    std::tie(sum, right, count) = std::tie(sums[0], sums[1], sums[2]);
  }
  if (count == 0) throw FailureError("none of the photos of validation can be decoded");
  train::Metrics metrics{{"loss", sum / count}, {"accuracy", right / count}};
  if (images_->multi_label) {
    metrics["map"] = train::validation_score(joined(scores), joined(targets), /*several=*/true);
  }
  return metrics;
}

/// The rows of all batches of all processes, in an order that depends on their numbers alone.
at::Tensor FinetuneData::joined(const std::vector<at::Tensor>& rows) const {
  const auto classes = static_cast<std::int64_t>(images_->classes.size());
  const at::Tensor own = rows.empty() ? at::zeros({0, classes}) : at::cat(rows);
  return group_ == nullptr ? own : group_->gathered(own);
}

}  // namespace vitascope::app
