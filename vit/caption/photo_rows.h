#pragma once

#include <ATen/core/Tensor.h>

#include <vector>

/// \file
/// Which photo each row of a decoder belongs to.
namespace vitascope::caption {

/// R rows (beams) over P photos. Rows of one photo become the queries of one batch entry, so that
/// they read its annotations where they lie; where photos have unequal numbers of rows, the rest is
/// filled with zeros.
class PhotoRows {
 public:
  PhotoRows() = default;
  /// One row a photo.
  explicit PhotoRows(std::int64_t photos);

  std::int64_t count() const { return static_cast<std::int64_t>(photo_.size()); }
  std::int64_t photos() const { return photos_; }

  /// The rows of these numbers, in this order, become rows 0, 1, ...
  /// \return photos that still have a row, by number, when some have none: they are numbered anew
  ///         in that order; else empty
  /// \throws std::invalid_argument when there is no row of a number
  std::vector<std::int64_t> select(at::IntArrayRef rows);

  /// [R, D] -> [P, K, D]
  at::Tensor by_photo(const at::Tensor& rows) const;
  /// [P, K, D] -> [R, D]
  at::Tensor by_row(const at::Tensor& grouped) const;

 private:
  void place_rows();

  std::vector<std::int64_t> photo_;  ///< of each row
  std::int64_t photos_ = 0;
  std::int64_t widest_ = 1;         ///< K, rows of the photo that has most
  std::vector<std::int64_t> slot_;  ///< of each row among P * K; empty: row r lies in slot r
};

}  // namespace vitascope::caption
