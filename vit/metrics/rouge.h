#pragma once

#include <span>

#include "vit/metrics/caption_tokens.h"

/// \file
/// ROUGE-L (Lin 2004): how long a sequence of words a caption shares with its references.
namespace vitascope::metrics {

/// The F measure, with recall weighing 1.2 times as much as precision, of the largest precision and
/// the largest recall over the references, as coco-caption takes them. Both are the length of the
/// longest common subsequence, as a share of the candidate's and of the reference's length. 0 when
/// the candidate has no word.
/// \throws std::invalid_argument when there is no reference
double rouge_l(const Sentence& candidate, std::span<const Sentence> references);

}  // namespace vitascope::metrics
