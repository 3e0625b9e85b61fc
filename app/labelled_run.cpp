#include "app/labelled_run.h"

#include <ATen/ATen.h>
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "datasets/open_labelled.h"
#include "datasets/split.h"
#include "vit/error.h"
#include "vit/text.h"

namespace vitascope::app {
namespace {

using datasets::LabelledImages;
using datasets::Split;

std::vector<std::size_t> all_samples(const LabelledImages& images) {
  std::vector<std::size_t> samples(images.samples.size());
  for (std::size_t i = 0; i < samples.size(); ++i) samples[i] = i;
  return samples;
}

std::string splits_text(const LabelledImages& images) {
  const datasets::SplitCounts counts = datasets::count_splits(images);
  std::string text;
  for (const Split split : {Split::train, Split::validation, Split::test, Split::none}) {
    const std::size_t count = counts[static_cast<std::size_t>(split)];
    if (count == 0) continue;
    text += fmt::format("{}{} {}", text.empty() ? "" : ", ", count, datasets::split_name(split));
  }
  return text;
}

/// The photo's logits behind those before.
/// \throws InputError when the model's answer is no number
void add_logits(const PhotoResult& result, std::vector<double>& logits) {
  const at::Tensor row = result.output.logits.to(at::kDouble).contiguous();
  if (!at::isfinite(row).all().item<bool>())
    throw InputError(result.photo.path, "the model gives no finite numbers for this photo");
  const double* first = row.const_data_ptr<double>();
  logits.insert(logits.end(), first, first + row.numel());
}

}  // namespace

LabelledImages open_data(const std::string& path) {
  if (path.empty())
    throw UsageError("no data is given; name a folder of class folders, or a table (.csv, .jsonl)");
  try {
    return datasets::open_labelled(path);
  } catch (const InputError& error) {
    throw UsageError(error.what());
  }
}

SelectedPhotos select_split(const LabelledImages& images, const std::string& split) {
  if (images.classes.empty())
    throw UsageError("the pictures have no labels to compare answers with");
  if (split == "all") return {split, all_samples(images)};
  if (split.empty()) {
    for (const Split likely : {Split::validation, Split::test}) {
      std::vector<std::size_t> samples = datasets::samples_of(images, likely);
      if (!samples.empty()) return {datasets::split_name(likely), std::move(samples)};
    }
    return {"all", all_samples(images)};
  }
  std::vector<std::size_t> samples =
      datasets::samples_of(images, datasets::parse_split(split).value());
  if (samples.empty())
    throw UsageError(
        fmt::format("the data have no {} split, only {}; --split all takes every photo", split,
                    splits_text(images)));
  return {split, std::move(samples)};
}

Answers no_answers(const weights::Model& model, const LabelledImages& images) {
  Answers answers;
  answers.model = model.name;
  answers.labels = model.labels;
  answers.sigmoid = model.network.config().multi_label;
  answers.multi_label = answers.sigmoid || images.multi_label;
  return answers;
}

std::vector<std::int64_t> truth_of(const datasets::Sample& sample, const LabelMatch& match) {
  std::vector<std::int64_t> truth;
  truth.reserve(sample.labels.size());
  for (const int label : sample.labels)
    truth.push_back(match[static_cast<std::size_t>(label)].value());
  // Several classes of the data may be one of the model.
  std::ranges::sort(truth);
  truth.erase(std::unique(truth.begin(), truth.end()), truth.end());
  return truth;
}

void add_answer(const PhotoResult& photo, std::size_t index, const LabelledImages& images,
                const LabelMatch& match, Answers& answers) {
  const datasets::Sample& sample = images.samples[index];
  if (sample.labels.empty() && !answers.multi_label)
    throw InputError(photo.photo.path, "has no label");
  add_logits(photo, answers.logits);
  answers.samples.push_back(index);
  answers.paths.push_back(photo.photo.path);
  answers.truth.push_back(truth_of(sample, match));
}

LabelledRun run_labelled(const weights::Model& model, const LabelMatch& match,
                         const std::shared_ptr<const LabelledImages>& images,
                         const SelectedPhotos& photos, const RunOptions& run,
                         const PhotoOptions& photo_options) {
  LabelledRun result;
  result.answers = no_answers(model, *images);
  const auto use = [&](const PhotoResult& photo) {
    add_answer(photo, photos.samples[photo.photo.index], *images, match, result.answers);
  };
  result.report = run_photos(model, {images, photos.samples}, run, photo_options, 0, {use});
  return result;
}

}  // namespace vitascope::app
