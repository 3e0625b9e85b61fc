#pragma once

#include <cstdint>
#include <span>
#include <vector>

/// \file
/// What measures are taken of: a number for each sample and class, and the true classes.
namespace vitascope::metrics {

/// The true class of each sample, 0 .. classes - 1.
using Labels = std::span<const std::int64_t>;

/// A view of numbers [samples, classes], one row a sample: logits, probabilities or scores.
class Scores {
 public:
  /// \throws std::invalid_argument when no whole rows, or none, or one holds a NaN
  Scores(std::span<const double> values, std::int64_t classes);

  std::int64_t samples() const { return static_cast<std::int64_t>(values_.size()) / classes_; }
  std::int64_t classes() const { return classes_; }
  std::span<const double> values() const { return values_; }
  /// The numbers of one sample.
  std::span<const double> row(std::int64_t sample) const {
    return values_.subspan(static_cast<std::size_t>(sample * classes_),
                           static_cast<std::size_t>(classes_));
  }

 private:
  std::span<const double> values_;
  std::int64_t classes_;
};

/// \throws std::invalid_argument unless there is a label a sample, each below scores.classes()
void require_labels(const Scores& scores, Labels labels);

/// The class of the highest score; of equal ones the lowest index.
std::int64_t top_class(std::span<const double> scores);

/// The `count` classes of the highest scores, highest first; of equal ones the lower index first.
std::vector<std::int64_t> top_classes(std::span<const double> scores, std::int64_t count);

/// Probabilities of logits / temperature: softmax of each row.
/// \return [samples, classes]
std::vector<double> softmax(const Scores& logits, double temperature = 1);

}  // namespace vitascope::metrics
