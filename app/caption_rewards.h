#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "datasets/captioned_images.h"
#include "vit/caption/vocabulary.h"
#include "vit/metrics/caption_tokens.h"
#include "vit/metrics/cider.h"

/// \file
/// What a sentence about a photo is worth to self-critical training.
namespace vitascope::app {

/// CIDEr-D against a photo's captions, n-grams weighed by the captions of all photos that are for
/// training. The end of a sentence counts as a word, in captions too: without it decoders learn to
/// stop after "with a" (Rennie et al. 2017, arXiv:1612.00563).
class CaptionRewards {
 public:
  /// \param photos rows of features: indices into the set
  /// \throws UsageError when there are too few photos for CIDEr-D to mean anything
  CaptionRewards(const datasets::CaptionedImages& images, std::span<const std::size_t> photos,
                 const caption::Vocabulary& vocabulary);

  /// \param row of the features, a photo for training \param tokens without <start>
  double operator()(std::int64_t row, const std::vector<std::int64_t>& tokens) const;

 private:
  CaptionRewards(const datasets::CaptionedImages& images, std::span<const std::size_t> photos,
                 const caption::Vocabulary& vocabulary, metrics::WordNumbers numbers);

  std::vector<std::vector<metrics::Sentence>> references_;  ///< of each row; of others none
  std::vector<metrics::Word> words_;                        ///< of each token
  metrics::DocumentFrequencies frequencies_;
};

}  // namespace vitascope::app
