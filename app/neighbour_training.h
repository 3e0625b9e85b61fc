#pragma once

#include <ATen/core/Tensor.h>

#include <memory>
#include <optional>
#include <vector>

#include "app/frozen_samples.h"

/// \file
/// A head of neighbours for a frozen model: labelled photos -> a model that can be saved.
namespace vitascope::app {

/// How the nearest photos vote; \see model::NeighbourHead.
struct NeighbourOptions {
  FeatureOptions features;
  int count = 20;
  double temperature = 0.07;
  datasets::OnBadImage on_bad_image = datasets::OnBadImage::error;
  std::vector<std::int64_t> others{1, 5, 10, 20, 50};  ///< counts that are told beside
};

/// The head and how good it is.
struct NeighbourTraining {
  /// The model with the features of the training photos; nothing when the run was interrupted.
  std::optional<weights::Model> model;
  FrozenSamples samples;
  double training_loss = 0, training_score = 0;  ///< each photo by all others
  double loss = 0, score = 0;                    ///< of validation
  at::Tensor held_out_logits;                    ///< [held_out, K]
  std::vector<NeighbourScore> others;
  double seconds = 0;  ///< beside those of the features
};

/// \throws UsageError when photos have several labels, or fewer are for training than would vote
void check_neighbours(const NeighbourOptions& options, const datasets::LabelledImages& images);

/// Computes the features of training and validation photos once, or takes them from the cache, and
/// keeps those for training with the model.
/// \throws UsageError, FailureError as check_neighbours and frozen_samples
NeighbourTraining keep_neighbours(const FrozenModel& model,
                                  const std::shared_ptr<const datasets::LabelledImages>& images,
                                  const NeighbourOptions& options);

}  // namespace vitascope::app
