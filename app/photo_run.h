#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "app/photo_loop.h"
#include "vit/model/vision_transformer.h"

/// \file
/// Photos through a model: decoded ahead, in batches, in order.
namespace vitascope::app {

/// One photo and what the model gave for it, on the CPU; tensors have a batch dimension of 1.
struct PhotoResult {
  const datasets::Item& photo;
  model::Output output;
  double model_milliseconds = 0;  ///< its share of its batch
};

/// What is done with photos on the way.
struct PhotoHooks {
  std::function<void(const PhotoResult&)> use;
  /// A photo that failed, after it was reported.
  std::function<void(const datasets::Item&, const InputError&)> failed = {};
  /// After the photos of each batch.
  std::function<void()> batch_done = {};
};

/// Runs the photos in batches of equal tensor size and hands every result to `hooks.use`, in the
/// order of `paths`. A photo that fails, or for which `use` throws InputError, is reported on
/// stderr, counted and skipped. SIGINT and SIGTERM end the run after the batch in hand.
/// \param failed inputs that failed before, for the report
/// \throws UsageError when the model's patches do not fit its input size
RunReport run_photos(const weights::Model& model, const std::vector<std::string>& paths,
                     const RunOptions& run, const PhotoOptions& options, int failed,
                     const PhotoHooks& hooks);

/// Pictures of a labelled set.
struct LabelledPhotos {
  std::shared_ptr<const datasets::LabelledImages> images;
  std::vector<std::size_t> samples;  ///< indices into the set
};

/// The same of a labelled set, in the order of its samples.
RunReport run_photos(const weights::Model& model, const LabelledPhotos& photos,
                     const RunOptions& run, const PhotoOptions& options, int failed,
                     const PhotoHooks& hooks);

}  // namespace vitascope::app
