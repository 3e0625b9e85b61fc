#include "vit/metrics/cider.h"

#include <cmath>
#include <stdexcept>

namespace vitascope::metrics {
namespace {

constexpr double kSigma = 6;

struct NgramWeight {
  Ngram words;
  double weight = 0;
};

/// A caption as a vector over n-grams.
struct Weighted {
  std::vector<NgramWeight> ngrams;  ///< ascending by words
  std::array<double, kLongestNgram> norms{};
  double length = 0;
};

Weighted weighted(const Sentence& sentence, const DocumentFrequencies& frequencies) {
  const std::vector<NgramCount> counts = count_ngrams(sentence);
  Weighted result;
  result.ngrams.reserve(counts.size());
  for (const auto& [words, count] : counts) {
    const double weight = count * frequencies.weight(words);
    result.ngrams.push_back({words, weight});
    result.norms[order_of(words) - 1] += weight * weight;
  }
  for (double& norm : result.norms) norm = std::sqrt(norm);
  result.length = sentence.empty() ? 0 : static_cast<double>(sentence.size() - 1);
  return result;
}

/// The mean over orders.
double similarity(const Weighted& candidate, const Weighted& reference) {
  std::array<double, kLongestNgram> products{};
  for_each_shared(candidate.ngrams, reference.ngrams, [&](const auto& mine, const auto& theirs) {
    products[order_of(mine.words) - 1] += std::min(mine.weight, theirs.weight) * theirs.weight;
  });
  double sum = 0;
  for (std::size_t n = 0; n < kLongestNgram; ++n)
    if (products[n] > 0) sum += products[n] / (candidate.norms[n] * reference.norms[n]);
  const double difference = candidate.length - reference.length;
  return sum / kLongestNgram * std::exp(-difference * difference / (2 * kSigma * kSigma));
}

/// The n-grams of one order that the references of an image have, each once.
void append_ngrams(const std::vector<Sentence>& references, std::size_t order,
                   std::vector<Ngram>& all) {
  const auto first = static_cast<std::ptrdiff_t>(all.size());
  for (const Sentence& sentence : references)
    for (std::size_t begin = 0; begin + order <= sentence.size(); ++begin) {
      Ngram ngram{kNoWord, kNoWord, kNoWord, kNoWord};
      std::copy_n(sentence.begin() + static_cast<std::ptrdiff_t>(begin), order, ngram.begin());
      all.push_back(ngram);
    }
  std::sort(all.begin() + first, all.end());
  all.erase(std::unique(all.begin() + first, all.end()), all.end());
}

}  // namespace

std::size_t DocumentFrequencies::Hash::operator()(const Ngram& ngram) const {
  std::uint64_t hash = 0;
  for (const Word word : ngram) {
    hash = (hash ^ static_cast<std::uint32_t>(word)) * 0x9E3779B97F4A7C15u;
    hash ^= hash >> 32;
  }
  return hash;
}

DocumentFrequencies::DocumentFrequencies(std::span<const std::vector<Sentence>> references)
    : images_(std::ssize(references)) {
  if (references.empty()) return;
  const double log_images = std::log(static_cast<double>(images_));
  largest_ = log_images;
  // One order at a time, and sorted, takes a fraction of the memory of a table of all.
  std::vector<Ngram> all;
  for (std::size_t order = 1; order <= kLongestNgram; ++order) {
    all.clear();
    for (const std::vector<Sentence>& image : references) append_ngrams(image, order, all);
    std::sort(all.begin(), all.end());
    for (auto begin = all.begin(); begin != all.end();) {
      const auto end = std::find_if(begin, all.end(), [&](const Ngram& x) { return x != *begin; });
      if (end - begin > 1)
        weights_.emplace(*begin, log_images - std::log(static_cast<double>(end - begin)));
      begin = end;
    }
  }
}

double cider_d(const Sentence& candidate, std::span<const Sentence> references,
               const DocumentFrequencies& frequencies) {
  if (references.empty()) throw std::invalid_argument("CIDEr-D of a caption without references");
  const Weighted own = weighted(candidate, frequencies);
  double sum = 0;
  for (const Sentence& reference : references)
    sum += similarity(own, weighted(reference, frequencies));
  return 10 * sum / static_cast<double>(references.size());
}

}  // namespace vitascope::metrics
