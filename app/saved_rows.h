#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <string>
#include <vector>

#include "vit/weights/safetensors.h"

/// \file
/// Tensors gathered photo by photo and written as one file.
namespace vitascope::app {

/// Rows of float32, one a photo, all of one shape.
class SavedRows {
 public:
  /// \param name what the tensor is called in the file
  explicit SavedRows(std::string name) : name_(std::move(name)) {}

  /// \throws InputError naming `path` when the row has another shape than those before
  void check(const at::Tensor& row, const std::string& path) const;

  /// Appends a row, any floating type, any device.
  /// \throws InputError as check does
  void add(const at::Tensor& row, const std::string& path);

  std::size_t count() const { return count_; }
  /// [count, ...]
  std::vector<std::int64_t> shape() const;
  /// One row, as it was added.
  std::span<const float> row(std::size_t index) const;
  /// All rows for write_safetensors; valid until the next add.
  weights::TensorToWrite tensor() const;
  /// All rows, one after the other.
  std::span<const float> values() const { return values_; }

 private:
  std::string name_;
  std::vector<std::int64_t> row_shape_;
  std::vector<float> values_;
  std::size_t count_ = 0;
};

/// NumPy's .npy of float32.
void write_npy(const std::string& path, const SavedRows& rows, bool force);
/// The same of any numbers, row by row.
void write_npy(const std::string& path, const std::vector<std::int64_t>& shape,
               std::span<const float> values, bool force);

/// CSV: path, then the numbers of the row.
void write_csv(const std::string& path, const std::vector<std::string>& photos,
               const SavedRows& rows, bool force);

/// The metadata of a .safetensors: "paths" (a JSON list, in the order of the rows) and "model".
std::map<std::string, std::string> saved_metadata(const std::vector<std::string>& photos,
                                                  const std::string& model);

}  // namespace vitascope::app
