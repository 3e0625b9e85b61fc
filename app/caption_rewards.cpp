#include "app/caption_rewards.h"

#include <fmt/format.h>

#include <utility>

#include "vit/error.h"

namespace vitascope::app {
namespace {

using References = std::vector<std::vector<metrics::Sentence>>;

References references_of(const datasets::CaptionedImages& images,
                         std::span<const std::size_t> photos, metrics::WordNumbers& numbers) {
  const metrics::Word end = numbers.number(caption::kSpecialTokens[caption::kEnd]);
  References references(photos.size());
  for (std::size_t row = 0; row < photos.size(); ++row) {
    const datasets::CaptionedImage& photo = images.photos[photos[row]];
    if (photo.split != datasets::Split::train) continue;
    for (const std::string& text : photo.captions) {
      references[row].push_back(numbers.sentence(text));
      references[row].back().push_back(end);
    }
  }
  return references;
}

metrics::DocumentFrequencies frequencies_of(const References& rows) {
  References photos;
  for (const auto& references : rows) {
    if (!references.empty()) photos.push_back(references);
  }
  if (std::ssize(photos) < metrics::kLeastCiderImages) {
    throw UsageError(
        fmt::format("CIDEr-D of {} photos says nothing: --self-critical learns from {} or more",
                    photos.size(), metrics::kLeastCiderImages));
  }
  return metrics::DocumentFrequencies(photos);
}

/// The words of all tokens, numbered as those of the references are.
std::vector<metrics::Word> words_of(const caption::Vocabulary& vocabulary,
                                    metrics::WordNumbers& numbers) {
  std::vector<metrics::Word> words;
  words.reserve(static_cast<std::size_t>(vocabulary.size()));
  for (std::int64_t token = 0; token < vocabulary.size(); ++token) {
    words.push_back(numbers.number(vocabulary.word(token)));
  }
  return words;
}

}  // namespace

CaptionRewards::CaptionRewards(const datasets::CaptionedImages& images,
                               std::span<const std::size_t> photos,
                               const caption::Vocabulary& vocabulary)
    : CaptionRewards(images, photos, vocabulary, metrics::WordNumbers()) {}

CaptionRewards::CaptionRewards(const datasets::CaptionedImages& images,
                               std::span<const std::size_t> photos,
                               const caption::Vocabulary& vocabulary, metrics::WordNumbers numbers)
    : references_(references_of(images, photos, numbers)),
      words_(words_of(vocabulary, numbers)),
      frequencies_(frequencies_of(references_)) {}

double CaptionRewards::operator()(std::int64_t row, const std::vector<std::int64_t>& tokens) const {
  metrics::Sentence sentence;
  sentence.reserve(tokens.size());
  for (const std::int64_t token : tokens) {
    sentence.push_back(words_[static_cast<std::size_t>(token)]);
  }
  return metrics::cider_d(sentence, references_[static_cast<std::size_t>(row)], frequencies_);
}

}  // namespace vitascope::app
