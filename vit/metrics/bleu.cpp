#include "vit/metrics/bleu.h"

#include <cmath>
#include <cstdlib>
#include <stdexcept>
#include <utility>

namespace vitascope::metrics {
namespace {

/// Of coco-caption: no precision is 0 / 0.
constexpr double kTiny = 1e-15, kSmall = 1e-9;

std::int64_t nearest_length(std::int64_t candidate, std::span<const Sentence> references) {
  std::int64_t best = std::ssize(references.front());
  for (const Sentence& reference : references) {
    const std::int64_t length = std::ssize(reference);
    if (std::pair(std::abs(length - candidate), length) <
        std::pair(std::abs(best - candidate), best))
      best = length;
  }
  return best;
}

/// The geometric means of the first precisions, shortened where the candidate is too short.
Bleu from(const std::array<double, kLongestNgram>& precisions, double length_ratio) {
  const double brevity = length_ratio < 1 ? std::exp(1 - 1 / length_ratio) : 1;
  Bleu result{};
  double product = 1;
  for (std::size_t n = 0; n < kLongestNgram; ++n) {
    product *= precisions[n];
    result[n] = std::pow(product, 1 / static_cast<double>(n + 1)) * brevity;
  }
  return result;
}

}  // namespace

BleuCounts& BleuCounts::operator+=(const BleuCounts& other) {
  for (std::size_t n = 0; n < kLongestNgram; ++n) {
    matches[n] += other.matches[n];
    totals[n] += other.totals[n];
  }
  candidate_length += other.candidate_length;
  reference_length += other.reference_length;
  return *this;
}

BleuCounts bleu_counts(const Sentence& candidate, std::span<const Sentence> references) {
  if (references.empty()) throw std::invalid_argument("BLEU of a caption without references");
  BleuCounts counts;
  counts.candidate_length = std::ssize(candidate);
  counts.reference_length = nearest_length(counts.candidate_length, references);
  const std::vector<NgramCount> own = count_ngrams(candidate);
  std::vector<int> most(own.size());
  for (const Sentence& reference : references)
    for_each_shared(own, count_ngrams(reference), [&](const auto& mine, const auto& theirs) {
      int& known = most[static_cast<std::size_t>(&mine - own.data())];
      known = std::max(known, theirs.count);
    });
  for (std::size_t i = 0; i < own.size(); ++i) {
    const std::size_t n = order_of(own[i].words) - 1;
    counts.totals[n] += own[i].count;
    counts.matches[n] += std::min(own[i].count, most[i]);
  }
  return counts;
}

Bleu bleu(const BleuCounts& counts) {
  std::array<double, kLongestNgram> precisions{};
  for (std::size_t n = 0; n < kLongestNgram; ++n)
    precisions[n] = (static_cast<double>(counts.matches[n]) + kTiny) /
                    (static_cast<double>(counts.totals[n]) + kSmall);
  return from(precisions, (static_cast<double>(counts.candidate_length) + kTiny) /
                              (static_cast<double>(counts.reference_length) + kSmall));
}

Bleu bleu_unsmoothed(const BleuCounts& counts) {
  if (counts.candidate_length == 0) return {};
  std::array<double, kLongestNgram> precisions{};
  for (std::size_t n = 0; n < kLongestNgram; ++n)
    if (counts.matches[n] > 0)
      precisions[n] =
          static_cast<double>(counts.matches[n]) / static_cast<double>(counts.totals[n]);
  // References without a word ask for no length.
  const double ratio = counts.reference_length == 0
                           ? 1
                           : static_cast<double>(counts.candidate_length) /
                                 static_cast<double>(counts.reference_length);
  return from(precisions, ratio);
}

}  // namespace vitascope::metrics
