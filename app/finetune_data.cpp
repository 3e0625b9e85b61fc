#include "app/finetune_data.h"

#include <ATen/ATen.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <map>
#include <sstream>
#include <tuple>
#include <utility>

#include "app/data_report.h"
#include "app/device.h"
#include "app/labelled_run.h"
#include "app/measure.h"
#include "app/output.h"
#include "app/progress.h"
#include "datasets/check.h"
#include "datasets/split.h"
#include "vit/checksum.h"
#include "vit/error.h"
#include "vit/metrics/classification.h"
#include "vit/metrics/multi_label.h"
#include "vit/text.h"
#include "vit/train/class_weights.h"
#include "vit/train/linear_head.h"

namespace vitascope::app {
namespace {

using datasets::LabelledImages;
using datasets::Split;

std::shared_ptr<datasets::DecodedCache> decoded_cache(const FinetuneOptions& options) {
  if (options.cache == "disk") return std::make_shared<datasets::DecodedCache>(options.output);
  if (options.cache != "ram") return nullptr;
  // Training itself needs the other half.
  return std::make_shared<datasets::DecodedCache>(static_cast<std::size_t>(available_memory() / 2));
}

datasets::PhotoRecipe recipe_of(const image::Specification& specification,
                                const FinetuneOptions& options) {
  return {.specification = specification,
          .augmentation = augmentation(options),
          .decode = {options.max_pixels, options.allow_truncated},
          .seed = options.seed,
          .cache = decoded_cache(options)};
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
          .on_bad_image = on_bad_image(options),
          .balanced = options.sampling == "balanced"};
}

/// float32 [B, classes]
at::Tensor soft_targets(const at::Tensor& targets, std::int64_t classes) {
  if (targets.dim() == 2) return targets;
  return at::zeros({targets.size(0), classes}, at::kFloat).scatter_(1, targets.unsqueeze(1), 1);
}

/// The first lines; a whole list of thousands would hide what follows.
void say_findings(const std::string& text, const std::string& data) {
  constexpr int kLines = 20;
  std::istringstream lines(text);
  int count = 0;
  for (std::string line; std::getline(lines, line); ++count) {
    if (count < kLines) output::warning(line);
  }
  if (count > kLines) {
    output::warning(fmt::format("{} more lines: 'vitascope check-data {}' prints all",
                                count - kLines, printable(data)));
  }
}

std::string plural(std::size_t count, const char* what) {
  return fmt::format("{} {}{}", count, what, count == 1 ? "" : "s");
}

}  // namespace

Answers answers_of(const LabelledImages& images, const std::vector<std::size_t>& samples,
                   const at::Tensor& logits) {
  const at::Tensor exact = logits.to(at::kDouble).contiguous();
  const double* row = exact.const_data_ptr<double>();
  std::map<std::size_t, const double*> by_sample;
  for (const std::size_t sample : samples) {
    by_sample[sample] = row;
    row += exact.size(1);
  }
  Answers answers;
  answers.labels = images.classes;
  answers.sigmoid = answers.multi_label = images.multi_label;
  for (const auto& [index, first] : by_sample) {
    const datasets::Sample& sample = images.samples[index];
    answers.samples.push_back(index);
    answers.paths.push_back(sample.path);
    answers.truth.emplace_back(sample.labels.begin(), sample.labels.end());
    answers.logits.insert(answers.logits.end(), first, first + exact.size(1));
  }
  return answers;
}

void add_class_figures(const Answers& answers, train::Metrics& figures) {
  const metrics::Scores scores(answers.logits, answers.classes());
  std::vector<metrics::ClassCounts> counts;
  if (answers.multi_label) {
    figures["map"] =
        metrics::mean_average_precision(metrics::average_precisions(scores, answers.truth))
            .value_or(0);
    counts = metrics::count_above(scores, answers.truth, /*threshold=*/0);  // of the logits
    figures["micro_f1"] = metrics::micro_average(counts).f1;
  } else {
    counts = metrics::ConfusionMatrix(scores, answers.single_labels()).per_class();
  }
  const auto occurs = [](const metrics::ClassCounts& one) { return one.support > 0; };
  figures["macro_f1"] =
      std::ranges::any_of(counts, occurs) ? metrics::averages_of(counts).macro_present.f1 : 0;
}

std::shared_ptr<const LabelledImages> open_training_data(const FinetuneOptions& options) {
  const auto images = std::make_shared<LabelledImages>(open_data(options.data));
  if (images->classes.size() < 2) {
    std::string text = fmt::format(
        "{}: holds {}: expected photos of two classes or more", printable(options.data),
        plural(images->classes.size(), "class") + (images->classes.empty() ? "es" : ""));
    for (const std::string& note : images->notes) text += "; " + note;  // e.g. of an empty folder
    throw UsageError(text);
  }
  check_options_for(options, images->multi_label);
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

bool check_photos(const FinetuneOptions& options, const LabelledImages& images,
                  const std::function<bool()>& interrupted) {
  if (options.skip_check) return true;
  const datasets::CheckOptions how{.threads = thread_count(options.run),
                                   .decode = {options.max_pixels, options.allow_truncated}};
  Progress progress(images.samples.size(), options.run.quiet);
  const datasets::CheckReport report = datasets::check(images, how, [&](std::size_t done) {
    progress.show(done);
    return !interrupted();
  });
  progress.clear();
  if (report.interrupted) return false;
  // Of what is odd a quiet run says what ends it.
  datasets::CheckReport broken;
  broken.broken = report.broken;
  say_findings(findings_text(images, options.run.quiet ? broken : report), options.data);
  if (!report.broken.empty() && on_bad_image(options) == datasets::OnBadImage::error) {
    throw FailureError(fmt::format(
        "{} can't be decoded (named above): mend or remove them; --on-bad-image skip trains "
        "without them",
        plural(report.broken.size(), "photo")));
  }
  return true;
}

std::string data_fingerprint(const LabelledImages& images) {
  std::uint32_t sum = 0;
  for (const datasets::Sample& sample : images.samples) {
    // Without its folder: the data may have moved.
    std::string text =
        fmt::format("{} {} {}", std::filesystem::path(sample.path).filename().string(),
                    datasets::split_name(sample.split), sample.weight);
    for (const int label : sample.labels) text += fmt::format(" {}", label);
    sum = crc32_of(text, sum);
  }
  return fmt::format("{} photos {:08x}", images.samples.size(), sum);
}

at::Tensor class_weights(const FinetuneOptions& options, const LabelledImages& images) {
  // A head sees all photos in each step: there weights do what sampling does elsewhere.
  const bool balanced_head = options.method == "head" && options.sampling == "balanced";
  if (options.class_weights == "none" && !balanced_head) return {};
  std::vector<std::int64_t> counts;
  for (const datasets::SplitCounts& of_class : datasets::count_classes(images)) {
    counts.push_back(static_cast<std::int64_t>(of_class[static_cast<std::size_t>(Split::train)]));
  }
  const std::vector<double> weights = options.class_weights != "effective"
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

std::vector<std::int64_t> FinetuneData::batch_shape() const {
  const image::Size size = image::output_size(validation_.specification).value();
  const auto train = static_cast<std::int64_t>(
      datasets::count_splits(*images_)[static_cast<std::size_t>(Split::train)]);
  const auto batch = std::min<std::int64_t>(static_cast<std::int64_t>(options_.batch_size), train);
  const auto processes = static_cast<std::int64_t>(options_.shard.processes);
  return {(batch + processes - 1) / processes, 3, size.height, size.width};
}

std::int64_t FinetuneData::loader_bytes() const {
  // Photos ahead, the batch, and a copy of it on the way.
  const std::vector<std::int64_t> shape = batch_shape();
  const std::int64_t photo = shape[1] * shape[2] * shape[3] * std::int64_t{sizeof(float)};
  return photo * (static_cast<std::int64_t>(options_.ahead) + 2 * shape[0]);
}

train::Batch FinetuneData::batch_of(datasets::TrainingBatch loaded) const {
  train::Batch batch{
      .inputs = std::move(loaded.pixels),
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

Validation FinetuneData::validate(const model::VisionTransformer& network,
                                  kernels::Backend backend) const {
  return measure(network, backend, held_out_, group_);
}

Validation FinetuneData::validate_alone(const model::VisionTransformer& network,
                                        kernels::Backend backend) const {
  return measure(network, backend, held_out_, nullptr);
}

Validation FinetuneData::test_alone(const model::VisionTransformer& network,
                                    kernels::Backend backend) const {
  return measure(network, backend, datasets::samples_of(*images_, Split::test), nullptr);
}

Validation FinetuneData::measure(const model::VisionTransformer& network, kernels::Backend backend,
                                 const std::vector<std::size_t>& samples,
                                 train::ProcessGroup* group) const {
  datasets::TrainingLoaderOptions options = options_;
  options.balanced = false;
  if (group == nullptr) options.shard = {};
  datasets::TrainingLoader loader(images_, samples, validation_, options);
  const at::Device device = device_of(network);
  const train::LossOptions loss{.kind = images_->multi_label ? train::LossKind::binary
                                                             : train::LossKind::cross_entropy};
  double sum = 0;
  double right = 0;
  std::vector<at::Tensor> rows;  // sample, logits: float64, which holds both exactly
  while (std::optional<datasets::TrainingBatch> loaded = loader.next()) {
    const std::vector<std::size_t> together = loaded->samples;
    const train::Batch batch = batch_of(std::move(*loaded));
    if (together.empty()) continue;
    const at::Tensor logits =
        network.forward(batch.inputs.to(device), {.backend = backend}).logits.cpu();
    sum += train::sample_losses(logits, batch.targets, loss).values.sum().item<double>();
    right += (logits.argmax(1) == batch.targets.argmax(1)).sum().item<double>();
    const std::vector<double> numbers(together.begin(), together.end());
    rows.push_back(
        at::cat({at::tensor(numbers, at::kDouble).unsqueeze(1), logits.to(at::kDouble)}, 1));
  }
  const auto classes = static_cast<std::int64_t>(images_->classes.size());
  at::Tensor all = rows.empty() ? at::zeros({0, 1 + classes}, at::kDouble) : at::cat(rows);
  if (group != nullptr) {
    std::array<double, 2> sums{sum, right};
    group->sum(sums);
    std::tie(sum, right) = std::tie(sums[0], sums[1]);
    all = group->gathered(all);
  }
  if (all.size(0) == 0) throw FailureError("none of the photos to measure by can be decoded");
  const at::Tensor numbered = all.select(1, 0).contiguous();
  const auto* number = numbered.const_data_ptr<double>();
  const std::vector<std::size_t> seen(number, number + numbered.numel());
  Validation result{.metrics = {},
                    .answers = answers_of(*images_, seen, all.narrow(1, 1, classes))};
  const auto count = static_cast<double>(all.size(0));
  result.metrics = {{"loss", sum / count}, {"accuracy", right / count}};
  add_class_figures(result.answers, result.metrics);
  return result;
}

}  // namespace vitascope::app
