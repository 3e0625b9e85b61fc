#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <unordered_map>

#include "vit/metrics/ngrams.h"

/// \file
/// CIDEr-D (Vedantam et al. 2015): how like its references a caption is, where n-grams that few
/// images have count most.
namespace vitascope::metrics {

/// With references of fewer images CIDEr-D says nothing. An n-gram's weight is the logarithm of the
/// number of images over those that have it: of one image always 0, whatever is written; of a
/// handful a matter of chance. Among 120 photos of COCO, one person's captions against the others'
/// give 1.03; random sets of 5 of them swing by 0.25 (one standard deviation), of 10 by 0.15, of 50
/// by 0.06.
inline constexpr std::int64_t kLeastCiderImages = 10;

/// In how many images' references each n-gram stands. A value: counted once, then used for any
/// number of captions, of these images or of others.
class DocumentFrequencies {
 public:
  /// \param references of each image
  explicit DocumentFrequencies(std::span<const std::vector<Sentence>> references);

  std::int64_t images() const { return images_; }

  /// ln(images / images that have the n-gram); of one that none has as if one had.
  double weight(const Ngram& ngram) const {
    const auto found = weights_.find(ngram);
    return found == weights_.end() ? largest_ : found->second;
  }

 private:
  struct Hash {
    std::size_t operator()(const Ngram& ngram) const;
  };
  std::int64_t images_ = 0;
  double largest_ = 0;
  std::unordered_map<Ngram, double, Hash> weights_;  ///< of those that two images or more have
};

/// CIDEr-D with n = 4 and sigma = 6, times 10: of each order of n-grams the clipped cosine of the
/// weighted counts, less where lengths differ; the mean over orders and references. From 0 to 10.
/// A caption's length is that of coco-caption: its number of pairs of words.
/// \throws std::invalid_argument when there is no reference
double cider_d(const Sentence& candidate, std::span<const Sentence> references,
               const DocumentFrequencies& frequencies);

}  // namespace vitascope::metrics
