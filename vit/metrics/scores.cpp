#include "vit/metrics/scores.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <stdexcept>

namespace vitascope::metrics {

Scores::Scores(std::span<const double> values, std::int64_t classes)
    : values_(values), classes_(classes) {
  if (classes < 1 || values.empty() || values.size() % static_cast<std::size_t>(classes) != 0) {
    throw std::invalid_argument(fmt::format(
        "{} scores for {} classes: expected one or more whole rows", values.size(), classes));
  }
  const auto wrong = std::ranges::find_if(values, [](double value) { return std::isnan(value); });
  if (wrong != values.end()) {
    throw std::invalid_argument(
        fmt::format("a score of sample {} is not a number", (wrong - values.begin()) / classes));
  }
}

void require_labels(const Scores& scores, Labels labels) {
  if (static_cast<std::int64_t>(labels.size()) != scores.samples()) {
    throw std::invalid_argument(fmt::format("{} labels for {} samples: expected one for each",
                                            labels.size(), scores.samples()));
  }
  for (const std::int64_t label : labels) {
    if (label < 0 || label >= scores.classes()) {
      throw std::invalid_argument(
          fmt::format("the label {}: expected 0 to {}", label, scores.classes() - 1));
    }
  }
}

std::int64_t top_class(std::span<const double> scores) {
  return std::ranges::max_element(scores) - scores.begin();
}

std::vector<std::int64_t> top_classes(std::span<const double> scores, std::int64_t count) {
  std::vector<std::int64_t> order(scores.size());
  std::iota(order.begin(), order.end(), 0);
  const auto end = order.begin() + std::clamp<std::int64_t>(count, 0, std::ssize(order));
  const auto before = [&](std::int64_t a, std::int64_t b) {
    const double score_a = scores[static_cast<std::size_t>(a)];
    const double score_b = scores[static_cast<std::size_t>(b)];
    return score_a != score_b ? score_a > score_b : a < b;
  };
  std::partial_sort(order.begin(), end, order.end(), before);
  order.erase(end, order.end());
  return order;
}

std::vector<double> softmax(const Scores& logits, double temperature) {
  std::vector<double> result(logits.values().begin(), logits.values().end());
  const auto classes = static_cast<std::size_t>(logits.classes());
  for (std::size_t start = 0; start < result.size(); start += classes) {
    const std::span<double> row = std::span(result).subspan(start, classes);
    const double highest = std::ranges::max(row);
    double total = 0;
    for (double& value : row) total += value = std::exp((value - highest) / temperature);
    for (double& value : row) value /= total;
  }
  return result;
}

}  // namespace vitascope::metrics
