#include "vit/metrics/rouge.h"

#include <algorithm>
#include <stdexcept>

namespace vitascope::metrics {
namespace {

constexpr double kBeta = 1.2;

std::size_t longest_common_subsequence(const Sentence& a, const Sentence& b) {
  std::vector<std::size_t> row(b.size() + 1);
  for (const Word word : a) {
    std::size_t diagonal = 0;
    for (std::size_t j = 0; j < b.size(); ++j) {
      const std::size_t above = row[j + 1];
      row[j + 1] = word == b[j] ? diagonal + 1 : std::max(above, row[j]);
      diagonal = above;
    }
  }
  return row.back();
}

}  // namespace

double rouge_l(const Sentence& candidate, std::span<const Sentence> references) {
  if (references.empty()) throw std::invalid_argument("ROUGE-L of a caption without references");
  double precision = 0, recall = 0;
  for (const Sentence& reference : references) {
    const std::size_t common = longest_common_subsequence(candidate, reference);
    if (common == 0) continue;
    const auto length = static_cast<double>(common);
    precision = std::max(precision, length / static_cast<double>(candidate.size()));
    recall = std::max(recall, length / static_cast<double>(reference.size()));
  }
  if (precision == 0) return 0;
  return (1 + kBeta * kBeta) * precision * recall / (recall + kBeta * kBeta * precision);
}

}  // namespace vitascope::metrics
