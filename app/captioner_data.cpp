#include "app/captioner_data.h"

#include <ATen/ATen.h>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <optional>
#include <utility>

#include "app/encoded_run.h"
#include "app/feature_cache.h"
#include "app/feature_store.h"
#include "app/output.h"
#include "datasets/sampling_order.h"
#include "vit/caption/captioning.h"
#include "vit/checksum.h"
#include "vit/error.h"
#include "vit/json_object.h"
#include "vit/metrics/captions.h"
#include "vit/text.h"

namespace vitascope::app {
namespace {

using caption::kEnd;
using caption::kPad;
using datasets::CaptionedImages;
using datasets::Split;

constexpr const char* kLoader = "captions";
constexpr int kEncoded = 8;            // photos that go through the encoder side by side
constexpr std::size_t kTogether = 32;  // photos, or captions, that are validated side by side

/// The photos as the cache knows them.
datasets::LabelledImages as_samples(const CaptionedImages& images) {
  datasets::LabelledImages samples;
  samples.samples.reserve(images.photos.size());
  for (const datasets::CaptionedImage& photo : images.photos) {
    datasets::Sample sample;
    sample.path = photo.path;
    samples.samples.push_back(std::move(sample));
  }
  return samples;
}

/// A caption's tokens, at most `longest` words of them.
std::vector<std::int64_t> tokens_of(const std::string& text, const caption::Vocabulary& vocabulary,
                                    int longest) {
  std::vector<std::string> words = metrics::tokenize(text);
  words.resize(std::min(words.size(), static_cast<std::size_t>(longest)));
  return vocabulary.encode(words);
}

/// Entropies of weights as a share of the largest there can be, summed over live words.
double relative_entropy(const at::Tensor& weights, const at::Tensor& live) {
  return (caption::attention_entropies(weights) * live).sum().item<double>() /
         std::log(static_cast<double>(weights.size(-1)));
}

}  // namespace

PhotoFeatures photo_features(const caption::Encoder& encoder,
                             const caption::EncoderReference& reference,
                             const CaptionedImages& images, const CaptionerOptions& options) {
  const datasets::LabelledImages samples = as_samples(images);
  const std::string key = fmt::format("{} {} {} {}", reference.name, reference.checksum,
                                      reference.stride, specification_key(encoder.specification()));
  const image::Size size = encoded_size(encoder);
  const std::int64_t down = size.height / encoder.stride(), across = size.width / encoder.stride();
  FeatureStore features(options.cache == "disk" ? options.output : "", key,
                        down * across * encoder.channels());
  if (!features.note().empty()) output::warning(features.note());
  std::vector<std::string> keys;
  std::vector<std::optional<std::int64_t>> rows;  // by photo
  std::vector<std::string> paths;                 // of those that are missing
  std::vector<std::size_t> missing;
  for (std::size_t i = 0; i < images.photos.size(); ++i) {
    keys.push_back(photo_key(samples, samples.samples[i]));
    rows.push_back(features.find(keys.back()));
    if (rows.back()) continue;
    paths.push_back(images.photos[i].path);
    missing.push_back(i);
  }
  if (!missing.empty()) features.reserve(std::ssize(missing));
  PhotoOptions photos;
  photos.allow_truncated = options.allow_truncated;
  photos.max_pixels = options.max_pixels;
  RunOptions run = options.run;
  run.batch_size = kEncoded;
  RunReport report;
  try {
    report = encode_photos(encoder, paths, run, photos, 0, [&](const EncodedPhoto& photo) {
      const std::size_t index = missing[photo.photo.index];
      rows[index] = features.add(keys[index], photo.annotations.values);
    });
  } catch (...) {
    features.save();  // what was seen before the failure is kept
    throw;
  }
  features.save();
  PhotoFeatures result{.rows = down, .columns = across, .interrupted = report.interrupted};
  for (std::size_t i = 0; i < rows.size(); ++i) {
    if (!rows[i]) continue;
    result.photos.push_back(i);
    result.places.push_back(*rows[i]);
  }
  if (!result.photos.empty()) {
    result.values = features.rows().view({-1, down * across, encoder.channels()});
  }
  return result;
}

caption::Vocabulary vocabulary_of(const CaptionedImages& images, int min_count) {
  std::vector<caption::Words> captions;
  for (const datasets::CaptionedImage& photo : images.photos) {
    if (photo.split != Split::train) continue;
    for (const std::string& text : photo.captions) captions.push_back(metrics::tokenize(text));
  }
  return caption::Vocabulary::build(captions, {.least_count = min_count}, metrics::kTokenisation);
}

std::string data_fingerprint(const CaptionedImages& images) {
  std::uint32_t sum = 0;
  const auto add = [&](std::string_view text) { sum = crc32_of(text, sum); };
  for (const datasets::CaptionedImage& photo : images.photos) {
    add(std::filesystem::path(photo.path).filename().string());
    add(datasets::split_name(photo.split));
    for (const std::string& text : photo.captions) add(text + "\n");
  }
  return fmt::format("{} photos {:08x}", images.photos.size(), sum);
}

CaptionerData::CaptionerData(const CaptionedImages& images, PhotoFeatures features,
                             const caption::Vocabulary& vocabulary, const CaptionerOptions& options)
    : images_(images), features_(std::move(features)), vocabulary_(vocabulary), options_(options) {
  for (std::size_t row = 0; row < features_.photos.size(); ++row) {
    const std::size_t index = features_.photos[row];
    const datasets::CaptionedImage& photo = images_.photos[index];
    std::vector<Told> told;
    told.reserve(photo.captions.size());
    for (const std::string& text : photo.captions) {
      told.push_back({.photo = static_cast<std::int64_t>(row),
                      .tokens = tokens_of(text, vocabulary_, options_.longest),
                      .image = index});
    }
    if (photo.split == Split::train && options_.self_critical) {
      const auto number = static_cast<std::int64_t>(row);
      samples_.push_back({.photo = number, .tokens = {number}, .image = index});
    } else if (photo.split == Split::train) {
      samples_.insert(samples_.end(), std::make_move_iterator(told.begin()),
                      std::make_move_iterator(told.end()));
    } else if (photo.split == Split::validation) {
      HeldOut held{.photo = static_cast<std::int64_t>(row), .captions = std::move(told)};
      for (const std::string& text : photo.captions) {
        held.references.push_back(words_.sentence(text));
      }
      held_out_.push_back(std::move(held));
    }
  }
  if (samples_.empty()) throw UsageError("there are no captions to learn from");
  if (held_out_.empty()) throw UsageError("there are no photos to validate with");
}

std::int64_t CaptionerData::batches() const {
  const std::int64_t size = options_.run.batch_size;
  return (samples() + size - 1) / size;
}

caption::Annotations CaptionerData::annotations(const std::vector<std::int64_t>& photos) const {
  at::Tensor places = at::empty({std::ssize(photos)}, at::kLong);
  std::ranges::transform(photos, places.mutable_data_ptr<std::int64_t>(), [&](std::int64_t photo) {
    return features_.places[static_cast<std::size_t>(photo)];
  });
  return {.values = features_.values.index_select(0, places),
          .rows = features_.rows,
          .columns = features_.columns};
}

train::Batch CaptionerData::batch_of(const std::vector<const Told*>& captions) const {
  std::size_t longest = 0;
  for (const Told* told : captions) longest = std::max(longest, told->tokens.size());
  train::Batch batch;
  batch.targets = at::full({std::ssize(captions), static_cast<std::int64_t>(longest)}, kPad,
                           at::TensorOptions(at::kLong));
  std::vector<std::int64_t> photos;
  photos.reserve(captions.size());
  batch.names.reserve(captions.size());
  auto* row = batch.targets.mutable_data_ptr<std::int64_t>();
  for (const Told* told : captions) {
    std::ranges::copy(told->tokens, row);
    row += longest;
    photos.push_back(told->photo);
    batch.names.push_back(images_.photos[told->image].path);
  }
  batch.inputs = annotations(photos).values;
  return batch;
}

std::optional<train::Batch> CaptionerData::next() {
  if (position_ >= samples_.size()) {
    position_ = 0;
    ++epoch_;
    order_.clear();
    return std::nullopt;
  }
  if (order_.empty()) order_ = datasets::epoch_order(samples_.size(), options_.seed, epoch_);
  const std::size_t end =
      std::min(position_ + static_cast<std::size_t>(options_.run.batch_size), samples_.size());
  std::vector<const Told*> together;
  together.reserve(end - position_);
  for (; position_ < end; ++position_) together.push_back(&samples_[order_[position_]]);
  return batch_of(together);
}

train::Metrics CaptionerData::validate(const caption::Decoder& decoder) const {
  train::Metrics figures;
  tell(decoder, figures);
  write(decoder, figures);
  return figures;
}

/// What the decoder makes of captions that it is told.
void CaptionerData::tell(const caption::Decoder& decoder, train::Metrics& figures) const {
  std::vector<const Told*> all;
  for (const HeldOut& photo : held_out_) {
    for (const Told& told : photo.captions) all.push_back(&told);
  }
  double loss = 0, right = 0, words = 0, entropy = 0;
  for (std::size_t begin = 0; begin < all.size(); begin += kTogether) {
    const std::size_t end = std::min(begin + kTogether, all.size());
    const train::Batch batch = batch_of({all.begin() + static_cast<std::ptrdiff_t>(begin),
                                         all.begin() + static_cast<std::ptrdiff_t>(end)});
    const std::int64_t length = batch.targets.size(1) - 1;
    const at::Tensor targets = batch.targets.narrow(1, 1, length);
    const caption::Taught taught = decoder.teach(
        batch.targets.narrow(1, 0, length),
        {.values = batch.inputs, .rows = features_.rows, .columns = features_.columns});
    const caption::CaptionLosses losses = caption::caption_losses(taught, targets, 0);
    const at::Tensor live = targets != kPad;
    loss -= losses.log_likelihood.sum().item<double>();
    right += (taught.logits.argmax(-1) == targets).logical_and(live).sum().item<double>();
    words += static_cast<double>(losses.words);
    entropy += relative_entropy(taught.weights, live);
  }
  figures["loss"] = loss / static_cast<double>(all.size());
  figures["accuracy"] = right / words;
  figures["attention"] = entropy / words;
}

/// What the decoder says by itself.
void CaptionerData::write(const caption::Decoder& decoder, train::Metrics& figures) const {
  caption::BeamOptions beam;
  beam.beam = options_.beam;
  beam.rules.longest = options_.longest + 1;
  caption::Decoder packed = decoder;
  packed.pack();
  std::vector<metrics::Sentence> candidates;
  std::vector<std::vector<metrics::Sentence>> references;
  for (std::size_t begin = 0; begin < held_out_.size(); begin += kTogether) {
    const std::size_t end = std::min(begin + kTogether, held_out_.size());
    std::vector<std::int64_t> photos;
    for (std::size_t i = begin; i < end; ++i) photos.push_back(held_out_[i].photo);
    const auto said = caption::captions_of(packed, annotations(photos), beam);
    for (std::size_t i = begin; i < end; ++i) {
      metrics::Sentence sentence;
      for (const std::string& word : vocabulary_.decode(said[i - begin].front().sentence.tokens)) {
        sentence.push_back(words_.number(word));
      }
      candidates.push_back(std::move(sentence));
      references.push_back(held_out_[i].references);
    }
  }
  const metrics::CaptionScores scores = metrics::score_captions(candidates, references).corpus;
  figures["bleu4"] = metrics::bleu(scores.counts).back();
  figures["rouge_l"] = scores.rouge_l;
  if (scores.cider_d) figures["cider_d"] = *scores.cider_d;
}

datasets::LoaderState CaptionerData::state() const {
  return {kLoader, Json{{"epoch", epoch_}, {"position", position_}}.dump()};
}

void CaptionerData::restore(const datasets::LoaderState& state) {
  const Json json = Json::parse(state.bytes, nullptr, /*allow_exceptions=*/false);
  if (state.name != kLoader || !json.is_object()) {
    throw UsageError("the checkpoint's place among the captions is of another run");
  }
  const JsonObject place(json, "checkpoint");
  epoch_ = static_cast<std::uint64_t>(place.integer("epoch", 0, 1 << 30));
  position_ = static_cast<std::size_t>(place.integer("position", 0, 1 << 30));
  order_.clear();
}

}  // namespace vitascope::app
