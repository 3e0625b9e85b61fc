#pragma once

#include <cstdint>
#include <vector>

#include "vit/caption/sentences.h"
#include "vit/random_numbers.h"

/// \file
/// Sentences drawn at random.
namespace vitascope::caption {

/// How the decoder's probabilities are bent before a token is drawn.
struct SamplingOptions {
  /// Log-probabilities are divided by it: below 1 likely tokens become likelier.
  double temperature = 1;
  std::int64_t top_k = 0;  ///< only the likeliest so many tokens (Fan et al. 2018); 0: all
  /// Only the likeliest tokens that together have at least this probability (nucleus sampling,
  /// Holtzman et al. 2020, arXiv:1904.09751); 1: all. After top_k and the temperature.
  double top_p = 1;
  double alpha = 0.7;  ///< exponent of the length in the score, as BeamOptions has it
  SentenceRules rules{};
  SpecialTokens special{};
};

/// Draws one sentence for each generator, token by token; row i of the first call is the i-th.
/// What a sentence becomes depends on its own generator alone, not on its neighbours. The
/// log-probabilities are the decoder's own, before temperature and cuts. A sentence that has not
/// ended after `rules.longest` tokens is returned unfinished.
/// \throws UsageError when options are out of range; FailureError, std::invalid_argument as
///         beam_search does
std::vector<Hypothesis> sample(const NextToken& next, std::vector<RandomNumbers>& random,
                               const SamplingOptions& options);

}  // namespace vitascope::caption
