#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "vit/metrics/bootstrap.h"
#include "vit/metrics/calibration.h"
#include "vit/metrics/classification.h"
#include "vit/metrics/comparison.h"

/// \file
/// How good a model's answers to labelled photos are: from its logits to every figure.
namespace vitascope::app {

/// What a model answered to the photos of a data set.
struct Answers {
  std::string model;                 ///< as the person named it
  std::vector<std::string> labels;   ///< of its classes
  bool sigmoid = false;              ///< its classes don't exclude each other
  bool multi_label = false;          ///< as above, or the data's classes don't
  std::vector<std::size_t> samples;  ///< ascending: of each photo its index in the data set
  std::vector<std::string> paths;
  std::vector<std::vector<std::int64_t>> truth;  ///< the model's classes that each photo shows
  std::vector<double> logits;                    ///< [photos, classes]

  const std::string& label(std::int64_t index) const {
    return labels[static_cast<std::size_t>(index)];
  }
  /// Of one label a photo: it.
  std::vector<std::int64_t> single_labels() const;
  std::int64_t classes() const { return static_cast<std::int64_t>(labels.size()); }
};

/// What is measured.
struct EvaluationOptions {
  metrics::BootstrapOptions bootstrap{};  ///< 0 resamples: no intervals
  int bins = 15;                          ///< of the reliability diagram
  double threshold = 0.5;                 ///< from which on a class of several counts as predicted
  bool fit_temperature = false;
  std::size_t mistakes = 24;  ///< to keep
};

/// One number of the whole data set.
struct Figure {
  std::string key;    ///< in JSON and CSV
  std::string title;  ///< for people
  double value = 0;
  std::optional<metrics::Interval> interval;
};

/// One class that the data hold or the model predicted.
struct ClassFigures {
  std::int64_t index = 0;
  metrics::ClassCounts counts;
  std::optional<double> average_precision;  ///< of several labels a photo
};

/// A photo that was taken for something else.
struct Mistake {
  std::size_t photo = 0;
  std::int64_t truth = 0, prediction = 0;
  double probability = 0;        ///< of the prediction
  double truth_probability = 0;  ///< of what it is
};

/// Two models on the photos that both answered to.
struct Comparison {
  std::string model;        ///< the second one
  std::int64_t photos = 0;  ///< in both
  double first_top1 = 0, second_top1 = 0;
  metrics::Discordance split;
  double exact = 1;  ///< probability of McNemar's exact test
  metrics::CorrectedMcNemar corrected;
  std::optional<metrics::Interval> difference;  ///< of second_top1 - first_top1
};

/// All that is found.
struct Evaluation {
  std::vector<Figure> figures;
  std::vector<ClassFigures> classes;
  std::optional<metrics::ConfusionMatrix> confusion;  ///< of one label a photo
  std::vector<metrics::ReliabilityBin> reliability;   ///< likewise
  std::vector<Mistake> mistakes;                      ///< likewise; the most confident first
  std::optional<Comparison> comparison;
};

/// The probabilities of the answers. [photos, classes]
std::vector<double> probabilities_of(const Answers& answers);

/// Measures answers, of which there is one at least.
Evaluation evaluate(const Answers& answers, const EvaluationOptions& options);

/// McNemar's test of two models with one label a photo, whatever the order of their classes.
/// \throws UsageError when no photo was answered by both
Comparison compare(const Answers& first, const Answers& second,
                   const metrics::BootstrapOptions& options);

}  // namespace vitascope::app
