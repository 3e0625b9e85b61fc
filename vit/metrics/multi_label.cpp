#include "vit/metrics/multi_label.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <stdexcept>

namespace vitascope::metrics {
namespace {

/// For each class, whether each sample has it.
std::vector<std::vector<bool>> presence(const Scores& scores, LabelLists labels) {
  if (std::ssize(labels) != scores.samples()) {
    throw std::invalid_argument(fmt::format("{} lists of labels for {} samples: expected as many",
                                            labels.size(), scores.samples()));
  }
  std::vector<std::vector<bool>> result(static_cast<std::size_t>(scores.classes()),
                                        std::vector<bool>(labels.size()));
  for (std::size_t sample = 0; sample < labels.size(); ++sample) {
    for (const std::int64_t label : labels[sample]) {
      if (label < 0 || label >= scores.classes() ||
          result[static_cast<std::size_t>(label)][sample]) {
        throw std::invalid_argument(
            fmt::format("the label {} of sample {}: expected 0 to {}, each once", label, sample,
                        scores.classes() - 1));
      }
      result[static_cast<std::size_t>(label)][sample] = true;
    }
  }
  return result;
}

std::vector<double> column(const Scores& scores, std::size_t label) {
  std::vector<double> result(static_cast<std::size_t>(scores.samples()));
  for (std::size_t i = 0; i < result.size(); ++i) {
    result[i] = scores.row(static_cast<std::int64_t>(i))[label];
  }
  return result;
}

}  // namespace

std::optional<double> average_precision(std::span<const double> scores,
                                        const std::vector<bool>& present) {
  if (scores.size() != present.size()) {
    throw std::invalid_argument(
        fmt::format("{} scores for {} samples: expected as many", scores.size(), present.size()));
  }
  std::vector<std::size_t> order(scores.size());
  std::iota(order.begin(), order.end(), 0);
  std::ranges::sort(order, [&](std::size_t a, std::size_t b) { return scores[a] > scores[b]; });
  double found = 0;
  double found_before = 0;  // before the present threshold
  double sum = 0;
  for (std::size_t i = 0; i < order.size(); ++i) {
    found += present[order[i]] ? 1 : 0;
    if (i + 1 < order.size() && scores[order[i + 1]] == scores[order[i]]) continue;
    sum += (found - found_before) * found / static_cast<double>(i + 1);
    found_before = found;
  }
  if (found == 0) return std::nullopt;
  return sum / found;
}

std::vector<std::optional<double>> average_precisions(const Scores& scores, LabelLists labels) {
  const std::vector<std::vector<bool>> present = presence(scores, labels);
  std::vector<std::optional<double>> result(present.size());
  for (std::size_t label = 0; label < present.size(); ++label) {
    result[label] = average_precision(column(scores, label), present[label]);
  }
  return result;
}

std::optional<double> mean_average_precision(std::span<const std::optional<double>> precisions) {
  double sum = 0;
  int count = 0;
  for (const std::optional<double>& precision : precisions) {
    if (!precision) continue;
    sum += *precision;
    ++count;
  }
  if (count == 0) return std::nullopt;
  return sum / count;
}

std::vector<ClassCounts> count_above(const Scores& scores, LabelLists labels, double threshold) {
  const std::vector<std::vector<bool>> present = presence(scores, labels);
  std::vector<ClassCounts> result(present.size());
  for (std::size_t label = 0; label < present.size(); ++label) {
    for (std::size_t sample = 0; sample < labels.size(); ++sample) {
      const bool predicted = scores.row(static_cast<std::int64_t>(sample))[label] >= threshold;
      result[label].predicted += predicted;
      result[label].support += present[label][sample];
      result[label].right += predicted && present[label][sample];
    }
  }
  return result;
}

Rates micro_average(std::span<const ClassCounts> classes) {
  ClassCounts all;
  for (const ClassCounts& counts : classes) {
    all.right += counts.right;
    all.predicted += counts.predicted;
    all.support += counts.support;
  }
  return rates_of(all);
}

}  // namespace vitascope::metrics
