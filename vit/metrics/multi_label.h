#pragma once

#include <optional>
#include <span>
#include <vector>

#include "vit/metrics/classification.h"

/// \file
/// Measures for samples that have any number of classes, or none.
namespace vitascope::metrics {

/// The classes that each sample has, in any order.
using LabelLists = std::span<const std::vector<std::int64_t>>;

/// Average precision of one class: sum_n (R_n - R_(n-1)) P_n over the thresholds, from the highest
/// score down, samples of equal score together (Zhu 2004; scikit-learn's, not interpolated).
/// \param scores  one a sample
/// \param present whether the sample has the class
/// \return nothing when no sample has it
std::optional<double> average_precision(std::span<const double> scores,
                                        const std::vector<bool>& present);

/// Average precision of each class.
/// \throws std::invalid_argument when labels don't fit the scores, or a sample names one twice
std::vector<std::optional<double>> average_precisions(const Scores& scores, LabelLists labels);

/// mAP: the mean over the classes that some sample has; nothing when there are none.
std::optional<double> mean_average_precision(std::span<const std::optional<double>> precisions);

/// What each class counts when those of `threshold` or more are predicted: rates_of and averages_of
/// (macro F1) read it.
std::vector<ClassCounts> count_above(const Scores& scores, LabelLists labels,
                                     double threshold = 0.5);

/// Micro average: the rates of the counts of all classes together.
Rates micro_average(std::span<const ClassCounts> classes);

}  // namespace vitascope::metrics
