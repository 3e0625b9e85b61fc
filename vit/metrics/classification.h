#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "vit/metrics/scores.h"

/// \file
/// How often the right class is found, in all and class by class. Counts add up, so that parts of a
/// set, or processes, can be summed before they are read.
namespace vitascope::metrics {

/// For each sample, how many classes rank before the true one: 0 where the model is right.
/// Of equal scores the lower index ranks first.
std::vector<std::int64_t> label_ranks(const Scores& scores, Labels labels);

/// The share of samples whose true class is among the first k.
/// \param ranks as label_ranks gives them, one or more
double top_k_accuracy(std::span<const std::int64_t> ranks, std::int64_t k);

/// Precision, recall and F1 of a class, or means of them over classes.
struct Rates {
  double precision = 0;  ///< right ones of those predicted; 0 when none was
  double recall = 0;     ///< right ones of those that are; 0 when there are none
  double f1 = 0;         ///< 2 right / (predicted + present); 0 when there are neither
};

/// What was counted of one class.
struct ClassCounts {
  std::int64_t right = 0;      ///< predicted and present
  std::int64_t predicted = 0;  ///< samples that it was predicted for
  std::int64_t support = 0;    ///< samples that it is present in
};

/// \see Rates
Rates rates_of(const ClassCounts& counts);

/// Means of the classes' rates.
struct Averages {
  Rates macro;          ///< over all classes
  Rates macro_present;  ///< over the classes that some sample has
  Rates weighted;       ///< by support
};

/// \throws std::invalid_argument when no sample has any class
Averages averages_of(std::span<const ClassCounts> classes);

/// Who was taken for whom: counts[true class][predicted class].
class ConfusionMatrix {
 public:
  explicit ConfusionMatrix(std::int64_t classes);
  /// The classes of the highest scores against the true ones.
  ConfusionMatrix(const Scores& scores, Labels labels);

  /// \throws std::invalid_argument when a class is not below classes()
  void add(std::int64_t label, std::int64_t predicted, std::int64_t count = 1);

  std::int64_t classes() const { return classes_; }
  std::int64_t at(std::int64_t label, std::int64_t predicted) const;
  /// [classes, classes], row by row.
  std::span<const std::int64_t> counts() const { return counts_; }
  /// For sums over processes.
  std::span<std::int64_t> counts() { return counts_; }
  std::vector<ClassCounts> per_class() const;

 private:
  std::int64_t classes_;
  std::vector<std::int64_t> counts_;
};

/// A class that was taken for another one.
struct Confusion {
  std::int64_t label = 0, predicted = 0;
  std::int64_t count = 0;
};

/// The most frequent confusions, at most `most` of them; of equal ones the lower label, then the
/// lower prediction first.
std::vector<Confusion> most_confused(const ConfusionMatrix& confusion, std::size_t most);

/// The share of samples that were predicted right.
/// \throws std::invalid_argument when the matrix is empty
double accuracy(const ConfusionMatrix& confusion);

/// The mean recall of the classes that some sample has.
/// \throws std::invalid_argument when the matrix is empty
double balanced_accuracy(const ConfusionMatrix& confusion);

}  // namespace vitascope::metrics
