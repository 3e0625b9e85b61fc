#pragma once

#include <ATen/core/Tensor.h>

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "app/options.h"
#include "datasets/labelled_images.h"

/// \file
/// What a frozen network sees in the photos of a labelled set.
namespace vitascope::app {

/// One model, opened twice.
struct FrozenModel {
  const weights::Model& plain;  ///< as it is saved again
  const weights::Model& quick;  ///< what features are computed with: packed, or in bfloat16
};

/// How features are computed.
struct FeatureOptions {
  RunOptions run;
  PhotoOptions photos;
  std::string cache{};  ///< file of a FeatureCache; empty: none
};

/// Features of the photos that could be decoded.
struct Features {
  at::Tensor values;                 ///< [n, F] float32; DeiT distilled: both tokens in a row
  std::vector<std::size_t> samples;  ///< [n] ascending positions in the list that was asked for
  std::size_t computed = 0;          ///< of these, not from the cache
  int failed = 0;                    ///< photos that were named on stderr
  bool interrupted = false;          ///< the rest was not looked at
};

/// Runs every photo that the cache does not know through the model once. What was computed is kept
/// in the cache, also when the run is interrupted or fails.
/// \param samples indices into the set
Features features_of(const FrozenModel& model,
                     const std::shared_ptr<const datasets::LabelledImages>& images,
                     const std::vector<std::size_t>& samples, const FeatureOptions& options);

}  // namespace vitascope::app
