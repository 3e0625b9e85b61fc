#pragma once

#include <cstring>
#include <string>
#include <vector>

#include "tests/golden.h"
#include "vit/json.h"
#include "vit/metrics/scores.h"
#include "vit/weights/safetensors.h"

/// \file
/// The predictions of tests/golden/classification_metrics and what scikit-learn says of them.
namespace vitascope::metrics::tests {

/// Of the measures, what double arithmetic leaves.
inline constexpr double kRelative = 1e-9;

/// 60 samples, 7 classes.
struct GoldenPredictions {
  std::vector<double> logits, probabilities;
  std::vector<std::int64_t> labels;
  Json expected;

  Scores logit_scores() const { return {logits, 7}; }
  Scores probability_scores() const { return {probabilities, 7}; }
};

inline std::vector<double> stored_numbers(const weights::StoredTensor& stored) {
  std::vector<float> numbers(stored.bytes.size() / sizeof(float));
  std::memcpy(numbers.data(), stored.bytes.data(), stored.bytes.size());
  return {numbers.begin(), numbers.end()};
}

/// Read once.
inline const GoldenPredictions& golden_predictions() {
  static const GoldenPredictions predictions = [] {
    const std::string folder = vitascope::tests::golden("classification_metrics");
    const weights::StoredTensors stored =
        weights::read_safetensors(folder + "/predictions.safetensors");
    const std::vector<double> labels = stored_numbers(stored.tensors.at("labels"));
    return GoldenPredictions{stored_numbers(stored.tensors.at("logits")),
                             stored_numbers(stored.tensors.at("probs")),
                             {labels.begin(), labels.end()},
                             read_json(folder + "/metrics.json")};
  }();
  return predictions;
}

/// What scikit-learn and scipy give beside that.
inline const Json& golden_measures() {
  static const Json measures = read_json(vitascope::tests::golden("measures.json"));
  return measures;
}

}  // namespace vitascope::metrics::tests
