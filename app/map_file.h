#pragma once

#include <ATen/core/Tensor.h>

#include <optional>
#include <string>

#include "vit/image/view.h"

/// \file
/// A map's numbers on disk, for other programs.
namespace vitascope::app {

/// A map and what it is of.
struct SavedMap {
  std::string path;          ///< of the photo
  std::string model;         ///< as the person named it
  std::string method;        ///< its name on the command line
  std::optional<int> layer;  ///< nothing where the method takes all of them
  std::string heads;         ///< a number, or how they were fused; empty where there is no choice
  std::optional<int> class_index;
  std::string class_label;  ///< empty without a class
  image::View view;
  at::Tensor values;  ///< float32 [rows, columns]
};

/// \throws UsageError when `path` ends in neither .json nor .npy
void check_map_file(const std::string& path);

/// Writes .npy, float32 [rows, columns], or .json, one object: path, model, method, layer, heads,
/// class {index, label} (null where there is none), photo [width, height], grid [rows, columns],
/// values [rows][columns], and cells [rows][columns][left, top, right, bottom], the rectangle of
/// upright-photo pixels of each value, which may stick out of the photo where the crop was padded.
/// \throws UsageError when the file exists and `force` is false; FailureError when writing fails
void write_map(const std::string& path, const SavedMap& map, bool force);

}  // namespace vitascope::app
