#pragma once

#include <cstdint>
#include <span>

#include "vit/metrics/scores.h"

/// \file
/// Whether one model is better than another on the same samples, or only lucky.
namespace vitascope::metrics {

/// The samples on which two models differ: what McNemar's test looks at.
struct Discordance {
  std::int64_t first_only = 0;   ///< right by the first model alone
  std::int64_t second_only = 0;  ///< right by the second alone
};

/// \param first, second the classes that the models predict, one a sample
/// \throws std::invalid_argument when the three differ in length
Discordance discordance(std::span<const std::int64_t> first, std::span<const std::int64_t> second,
                        Labels labels);

/// McNemar's test (McNemar 1947): the probability of a split at least as uneven if both models were
/// equally good. Two-sided, from the binomial distribution; 1 when they never differ.
double mcnemar_exact(const Discordance& split);

/// McNemar's test with continuity correction (Edwards 1948), for many samples.
struct CorrectedMcNemar {
  double statistic = 0;  ///< max(0, |b - c| - 1)^2 / (b + c), chi-squared with 1 degree of freedom
  double probability = 1;  ///< of a statistic as large
};

/// \see CorrectedMcNemar
CorrectedMcNemar mcnemar_corrected(const Discordance& split);

}  // namespace vitascope::metrics
