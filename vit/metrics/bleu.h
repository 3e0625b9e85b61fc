#pragma once

#include <array>
#include <cstdint>
#include <span>

#include "vit/metrics/ngrams.h"

/// \file
/// BLEU (Papineni et al. 2002): how many n-grams of a caption stand in a reference too.
namespace vitascope::metrics {

/// What BLEU counts of a caption. Counts add up; BLEU of a corpus is read off their sum.
struct BleuCounts {
  /// n-grams of the candidate, by order, that a reference has as well: each at most as often as in
  /// the reference that has it most often.
  std::array<std::int64_t, kLongestNgram> matches{};
  std::array<std::int64_t, kLongestNgram> totals{};  ///< n-grams of the candidate, by order
  std::int64_t candidate_length = 0;
  std::int64_t reference_length = 0;  ///< of the reference nearest in length; of two the shorter

  BleuCounts& operator+=(const BleuCounts& other);
};

/// \throws std::invalid_argument when there is no reference
BleuCounts bleu_counts(const Sentence& candidate, std::span<const Sentence> references);

/// BLEU-1 to BLEU-4.
using Bleu = std::array<double, kLongestNgram>;

/// With the smoothing of coco-caption (Chen et al. 2015): each precision is (matches + 1e-15) /
/// (totals + 1e-9), the ratio of lengths (candidate + 1e-15) / (reference + 1e-9).
Bleu bleu(const BleuCounts& counts);

/// As the paper defines it: 0 where an order has no match.
Bleu bleu_unsmoothed(const BleuCounts& counts);

}  // namespace vitascope::metrics
