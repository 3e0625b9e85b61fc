#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "app/features.h"
#include "datasets/training_loader.h"
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
};

/// What the vote of the nearest training photos says of validation, without any training.
struct NeighbourScore {
  std::int64_t k = 0;
  double score = 0;  ///< accuracy, or mAP where photos have several classes
};

/// A trained head and how it came about.
struct HeadTraining {
  /// The model with the new head and its labels; nothing when the run was interrupted.
  std::optional<weights::Model> model;
  train::TrainedHead trained;
  std::vector<NeighbourScore> neighbours;
  double training_loss = 0, training_score = 0;  ///< of the chosen head; as its figures are
  std::vector<std::size_t> held_out;             ///< samples of validation that could be used
  at::Tensor held_out_logits;                    ///< [held_out, K], of the chosen head
  std::size_t training = 0, validation = 0;      ///< photos that were used
  std::size_t computed = 0;                      ///< of these, not from the cache
  int failed = 0;                                ///< photos that were named and left out
  double feature_seconds = 0, head_seconds = 0;

  /// The chosen candidate's figures on validation.
  const train::HeadCandidate& figures() const { return trained.candidates.at(trained.chosen); }
};

/// Computes the features of training and validation photos once, or takes them from the cache, and
/// trains a head on them. Photos for testing are not touched.
/// \param images split already: photos of Split::train and Split::validation
/// \throws UsageError when a split or the classes are missing
/// \throws FailureError when photos can't be decoded, with OnBadImage::error; features of the
///         others are in the cache by then
HeadTraining train_head(const FrozenModel& model,
                        const std::shared_ptr<const datasets::LabelledImages>& images,
                        const HeadTrainingOptions& options);

/// The same network with another head.
/// \param head   on features as features_of gives them
/// \param labels names of its classes
weights::Model with_head(const weights::Model& model, const train::LinearHead& head,
                         const std::vector<std::string>& labels, bool multi_label);

}  // namespace vitascope::app
