#pragma once

#include <ATen/core/Tensor.h>

#include <cstddef>
#include <memory>
#include <vector>

#include "app/features.h"
#include "datasets/training_loader.h"
#include "vit/train/ridge.h"

/// \file
/// Labelled photos as a head on a frozen network sees them.
namespace vitascope::app {

/// Features with labels, by what they are for.
struct FrozenSamples {
  train::LinearSamples training, validation;
  std::vector<std::size_t> held_out;  ///< samples of validation, one a row
  std::size_t computed = 0;           ///< photos that were not in the cache
  int failed = 0;                     ///< photos that were named and left out
  double seconds = 0;
  bool interrupted = false;  ///< then there are no features here

  std::size_t photos() const {
    return static_cast<std::size_t>(training.features.size(0) + validation.features.size(0));
  }
};

/// Computes the features of training and validation photos once, or takes them from the cache.
/// Photos for testing are not touched.
/// \param images split already: photos of Split::train and Split::validation
/// \throws UsageError when a split or the classes are missing
/// \throws FailureError when photos can't be decoded, with OnBadImage::error; features of the
///         others are in the cache by then
FrozenSamples frozen_samples(const FrozenModel& model,
                             const std::shared_ptr<const datasets::LabelledImages>& images,
                             const FeatureOptions& options, datasets::OnBadImage on_bad_image);

/// What the vote of the nearest training photos says of validation, without any training.
struct NeighbourScore {
  std::int64_t k = 0;
  double score = 0;  ///< accuracy, or mAP where photos have several classes
};

/// The score of each number of neighbours.
std::vector<NeighbourScore> neighbour_scores(const FrozenSamples& samples,
                                             const std::vector<std::int64_t>& ks,
                                             double temperature, bool several);

}  // namespace vitascope::app
