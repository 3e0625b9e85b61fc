#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "app/frozen_samples.h"
#include "vit/train/linear_head.h"

/// \file
/// A new head for a frozen model, from photos to a model that can be saved.
namespace vitascope::app {

/// How a head is trained.
struct HeadTrainingOptions {
  FeatureOptions features;
  train::LinearHeadOptions head;
  datasets::OnBadImage on_bad_image = datasets::OnBadImage::error;
  std::vector<std::int64_t> neighbours{1, 5, 10, 20};  ///< k of the votes that are told beside
  double temperature = 0.07;                           ///< of these votes
};

/// A trained head and how it came about.
struct HeadTraining {
  /// The model with the new head and its labels; nothing when the run was interrupted.
  std::optional<weights::Model> model;
  FrozenSamples samples;
  train::TrainedHead trained;
  std::vector<NeighbourScore> neighbours;
  double training_loss = 0, training_score = 0;  ///< of the chosen head; as its figures are
  at::Tensor held_out_logits;                    ///< [samples.held_out, K], of the chosen head
  double seconds = 0;                            ///< beside those of the features

  /// The chosen candidate's figures on validation.
  const train::HeadCandidate& figures() const { return trained.candidates.at(trained.chosen); }
};

/// Computes the features of training and validation photos once, or takes them from the cache, and
/// trains a head on them.
/// \throws UsageError, FailureError as frozen_samples
HeadTraining train_head(const FrozenModel& model,
                        const std::shared_ptr<const datasets::LabelledImages>& images,
                        const HeadTrainingOptions& options);

/// The same network with another head.
/// \param head   on features as features_of gives them
/// \param labels names of its classes
weights::Model with_head(const weights::Model& model, const train::LinearHead& head,
                         const std::vector<std::string>& labels, bool multi_label);

}  // namespace vitascope::app
