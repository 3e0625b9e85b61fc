#pragma once

#include <cstdint>
#include <vector>

#include "vit/caption/captioning.h"

/// \file
/// Does a sentence depend on where its words looked? Attention is permuted and made equal (see
/// attention_change.h), and the decoder is asked again: how likely is the sentence now, and which
/// one would be said instead?
namespace vitascope::caption {

/// What other attention does to a sentence.
struct ChangedSentence {
  double log_prob = 0;      ///< of a word of the original sentence, <end> counts: the mean
  at::Tensor weights;       ///< float32 [T, L] on the CPU: where its words looked then
  Hypothesis sentence{};    ///< the best that the same search finds
  double words_differ = 0;  ///< of the two sentences, see words_differ()
};

/// All of one photo.
struct SentenceAudit {
  double log_prob = 0;  ///< of a word with the decoder's own attention, <end> counts: the mean
  std::vector<ChangedSentence> permuted;  ///< one a permutation
  ChangedSentence uniform;
};

/// How attention is changed.
struct SentenceAuditOptions {
  std::int64_t permutations = 5;
  std::uint64_t seed = 0;  ///< of the permutations
};

/// The share of words that two sentences don't have in common: the fewest words to insert, to leave
/// out or to replace that make one of the other (Levenshtein 1966), as a part of the longer one's
/// length. <end> does not count; 0 when both are empty.
double words_differ(const Hypothesis& a, const Hypothesis& b);

/// \param annotations of one photo
/// \param own what `search` found there; hard attention took the likeliest places
/// \throws UsageError, FailureError as beam_search does
SentenceAudit audit_sentence(const Decoder& decoder, const Annotations& annotations,
                             const Caption& own, const BeamOptions& search,
                             const SentenceAuditOptions& options = {});

}  // namespace vitascope::caption
