#pragma once

#include <optional>
#include <span>
#include <vector>

#include "vit/metrics/bleu.h"
#include "vit/metrics/cider.h"

/// \file
/// How good captions are: all measures of a set, and of each photo of it.
namespace vitascope::metrics {

/// Of one caption, or of a set: counts are summed, the others are means.
struct CaptionScores {
  BleuCounts counts;  ///< bleu() and bleu_unsmoothed() read BLEU off them
  double rouge_l = 0;
  std::optional<double> cider_d;  ///< absent: too few images, see kLeastCiderImages
  double exact = 0;               ///< 1 for a caption that is one of its references, else 0
};

/// The scores of a set of captions.
struct CaptionReport {
  CaptionScores corpus;
  std::vector<CaptionScores> images;  ///< in their order
};

/// \param references  of each candidate, one or more
/// \param frequencies of another set of references; null: of these
/// \throws std::invalid_argument when there is no candidate, or one has no references
CaptionReport score_captions(std::span<const Sentence> candidates,
                             std::span<const std::vector<Sentence>> references,
                             const DocumentFrequencies* frequencies = nullptr);

}  // namespace vitascope::metrics
