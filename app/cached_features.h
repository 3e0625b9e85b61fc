#pragma once

#include <ATen/core/Tensor.h>

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "app/feature_cache.h"
#include "datasets/labelled_images.h"

/// \file
/// Features of a set of photos, those of an earlier run from a file and the others as they come in.
namespace vitascope::app {

/// One row a photo.
class CachedFeatures {
 public:
  /// \param path file of a FeatureCache; empty: nothing is kept
  /// \param key  what features depend on beside the photo
  CachedFeatures(const std::string& path, std::string key);

  /// Takes from the cache what it has. \param samples indices into the set
  /// \return the positions among `samples` of the others
  std::vector<std::size_t> look_up(const datasets::LabelledImages& images,
                                   const std::vector<std::size_t>& samples);

  /// The features of the photo at a position, any shape.
  void set(std::size_t position, const at::Tensor& features);

  /// Writes the cache. \throws FailureError when writing fails
  void save();

  /// All rows that there are, float32 [n, F], and their positions.
  std::pair<at::Tensor, std::vector<std::size_t>> all() const;

 private:
  std::optional<FeatureCache> cache_;
  std::vector<at::Tensor> rows_;
  std::vector<std::string> keys_;
};

}  // namespace vitascope::app
