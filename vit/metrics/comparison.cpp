#include "vit/metrics/comparison.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <stdexcept>

namespace vitascope::metrics {

Discordance discordance(std::span<const std::int64_t> first, std::span<const std::int64_t> second,
                        Labels labels) {
  if (first.size() != labels.size() || second.size() != labels.size()) {
    throw std::invalid_argument("two models' answers and the labels differ in number");
  }
  Discordance result;
  for (std::size_t i = 0; i < labels.size(); ++i) {
    const bool first_right = first[i] == labels[i];
    const bool second_right = second[i] == labels[i];
    result.first_only += first_right && !second_right;
    result.second_only += second_right && !first_right;
  }
  return result;
}

double mcnemar_exact(const Discordance& split) {
  const std::int64_t fewer = std::min(split.first_only, split.second_only);
  const auto trials = static_cast<double>(split.first_only + split.second_only);
  if (2 * fewer >= split.first_only + split.second_only) return 1;
  // The tail in units of its largest term, (trials over fewer); the terms below fall quickly.
  double tail = 0;
  double term = 1;
  for (auto k = static_cast<double>(fewer); k >= 0 && term > 1e-20 * tail; --k) {
    tail += term;
    term *= k / (trials - k + 1);
  }
  const auto k = static_cast<double>(fewer);
  const double log_largest = std::lgamma(trials + 1) - std::lgamma(k + 1) -
                             std::lgamma(trials - k + 1) - trials * std::log(2.0);
  return std::min(1.0, 2 * tail * std::exp(log_largest));
}

CorrectedMcNemar mcnemar_corrected(const Discordance& split) {
  const auto trials = static_cast<double>(split.first_only + split.second_only);
  if (trials == 0) return {};
  const auto uneven = static_cast<double>(std::llabs(split.first_only - split.second_only));
  const double statistic = std::pow(std::max(0.0, uneven - 1), 2) / trials;
  // Chi-squared with one degree of freedom is the square of a normal variate.
  return {statistic, std::erfc(std::sqrt(statistic / 2))};
}

}  // namespace vitascope::metrics
