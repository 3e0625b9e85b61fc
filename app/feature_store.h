#pragma once

#include <ATen/core/Tensor.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

/// \file
/// What an encoder sees of photos, more of it than memory holds: a file of numbers, mapped.
namespace vitascope::app {

/// Rows of float32, one a photo. `features.f32` holds them one after the other, in the order in
/// which they came; `features.json` says whose they are, with a CRC-32 of each.
class FeatureStore {
 public:
  /// Reads the index that `folder` holds for this key. One that is damaged or of another key counts
  /// as none; note() says so.
  /// \param folder that exists; empty: the rows are in memory and go with the store
  /// \param key    what features depend on beside the photo
  /// \param width  numbers of a row
  FeatureStore(const std::string& folder, std::string key, std::int64_t width);

  /// What was wrong with the files, or empty.
  const std::string& note() const { return note_; }

  /// The row of a photo whose numbers are as they were written, or nothing.
  std::optional<std::int64_t> find(const std::string& photo) const;

  /// Makes room for so many rows more. Tensors that rows() gave before stay valid.
  /// \throws FailureError when the disk has none
  void reserve(std::int64_t count);

  /// Appends a row, any shape and device, within what was reserved. A photo without a
  /// key ("") is found by nobody later. \return its number
  std::int64_t add(const std::string& photo, const at::Tensor& row);

  /// Writes the index when something was added.
  /// \throws FailureError when writing fails
  void save();

  /// float32 [rows, width], which holds the file
  at::Tensor rows() const { return rows_.narrow(0, 0, count_); }

 private:
  void read();

  std::string numbers_, index_, key_, note_;
  std::int64_t width_;
  at::Tensor rows_;  ///< [room, width]
  std::int64_t count_ = 0;
  std::vector<std::string> photos_;       ///< by row
  std::vector<std::uint32_t> checksums_;  ///< by row
  std::unordered_map<std::string, std::int64_t> row_of_;
  bool changed_ = false;
};

}  // namespace vitascope::app
