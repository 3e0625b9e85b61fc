#pragma once

#include <string>

#include "app/evaluation.h"
#include "app/output.h"

/// \file
/// What an evaluation found, as text, JSON and CSV.
namespace vitascope::app {

/// What the figures are of.
struct EvaluationSubject {
  std::string data;    ///< the folder or table, as the person named it
  std::string source;  ///< what it was taken for
  std::string split;   ///< train, validation, test or all
  int failed = 0;      ///< photos that could not be counted
  bool interrupted = false;
  metrics::BootstrapOptions bootstrap{};
};

/// Some evaluated answers.
struct EvaluationResult {
  const EvaluationSubject& subject;
  const Answers& answers;
  const Evaluation& evaluation;
};

/// The classes that a matrix shows: those that occur, as rows and as columns.
struct ConfusionTable {
  std::vector<std::string> labels;
  std::vector<std::int64_t> counts;  ///< [labels, labels], true class by predicted class
};

/// Of an evaluation of one label a photo.
ConfusionTable confusion_table(const EvaluationResult& result);

/// Classes that are taken for one another, a line each, the most frequent first; empty without any.
std::string confusions_text(const Answers& answers, const metrics::ConfusionMatrix& confusion,
                            std::size_t most);

/// "109 photos of validation, 16 classes, 2 failed".
std::string subject_text(const EvaluationResult& result);

/// Figures, classes, what is confused, the matrix where it fits; for people.
std::string evaluation_text(const EvaluationResult& result);

/// One JSON object on a line; its keys are documented in the help of `evaluate`.
std::string evaluation_json(const EvaluationResult& result);

/// figure,class,value,low,high: a line for each figure, and for each class and rate.
std::string evaluation_csv(const EvaluationResult& result);

/// One of the three.
std::string render(const EvaluationResult& result, output::Format format);

/// The confusion matrix: a line for each true class, a column for each predicted one.
std::string confusion_csv(const EvaluationResult& result);

/// A line for each photo: path, truth, prediction, probability, truth_probability, rank.
/// Of several labels a photo: path, truth, and a column of probabilities for each class.
std::string predictions_csv(const Answers& answers);

}  // namespace vitascope::app
