#pragma once

#include <cstdint>
#include <vector>

#include "vit/caption/sentences.h"

/// \file
/// The likeliest sentences by beam search.
namespace vitascope::caption {

/// What becomes of the beam when a sentence ends.
enum class FinishRule {
  /// As many sentences go on as before: of the best 2k continuations an <end> among the first k
  /// finishes a sentence, one further down is dropped, and the first k others live on. The search
  /// of a photo stops when k sentences are finished (fairseq, Ott et al. 2019).
  keep,
  /// One sentence fewer goes on (Xu et al. 2015, arctic-captions).
  shrink,
};

/// How wide is searched, and which sentences are preferred.
struct BeamOptions {
  std::int64_t beam = 3;     ///< k: sentences that go on side by side; 1 is greedy search
  std::int64_t results = 1;  ///< best ones that are returned, at most k
  /// Exponent of the length, <end> included, by which a log-probability is divided (Wu et al. 2016
  /// in its plain form). At 0 short sentences win, since each token costs.
  double alpha = 0.7;
  FinishRule finish = FinishRule::keep;
  SentenceRules rules{};
  SpecialTokens special{};
};

/// Searches all photos side by side, with one call of `next` a step; a photo that is done takes no
/// rows. Continuations are ordered by their log-probability, then the lower token, then the
/// earlier sentence.
///
/// A photo's result is its finished sentences, or, where none ended, those that still lived; by
/// score, the shorter, the lower tokens; none is empty.
/// \throws UsageError when options are out of range, or the beam is wider than the vocabulary
///         (without <start>, <pad> and <unk>); FailureError when no token is possible at once, or
///         log-probabilities are NaN; std::invalid_argument when scores have another shape
std::vector<std::vector<Hypothesis>> beam_search(const NextToken& next, std::int64_t photos,
                                                 const BeamOptions& options);

}  // namespace vitascope::caption
