#pragma once

#include <ATen/core/Tensor.h>

#include <cstddef>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "app/saved_rows.h"
#include "datasets/labelled_images.h"
#include "vit/image/specification.h"
#include "vit/weights/model_directory.h"

/// \file
/// What a frozen network said of photos, kept in a file.
namespace vitascope::app {

/// All that features of a photo depend on beside the photo: parameters (the head's left out) by
/// their CRC-32, configuration, specification.
/// \param model     with plain weights, not packed
/// \param precision that features are computed in
std::string feature_key(const weights::Model& model, at::ScalarType precision);

/// All of a specification that features depend on.
std::string specification_key(const image::Specification& specification);

/// Which picture it is: path, size and time of its last change; of a picture in memory a CRC-32.
/// Empty when the file can't be looked at.
std::string photo_key(const datasets::LabelledImages& images, const datasets::Sample& sample);

/// Rows of features by photo_key, in the safetensors format: `features` [n, F], and as metadata the
/// photos, the feature_key and a checksum.
class FeatureCache {
 public:
  /// Reads what `path` holds for this key. A file that is damaged or of another key counts as empty
  /// and is replaced by save(); note() says so.
  FeatureCache(std::string path, std::string key);

  /// What was wrong with the file, or empty.
  const std::string& note() const { return note_; }
  std::size_t size() const { return photos_.size(); }

  /// The row of a photo, [F], or nothing. Valid until the next add.
  std::optional<at::Tensor> find(const std::string& photo) const;
  void add(const std::string& photo, const at::Tensor& row);

  /// Writes the file when something was added since it was read.
  /// \throws FailureError when writing fails
  void save();

 private:
  void read();

  std::string path_, key_, note_;
  SavedRows rows_{"features"};
  std::vector<std::string> photos_;
  std::unordered_map<std::string, std::size_t> index_;
  bool changed_ = false;
};

}  // namespace vitascope::app
