#pragma once

#include <ATen/core/Tensor.h>

#include <vector>

#include "vit/caption/alignment/alignment.h"
#include "vit/caption/photo_rows.h"

/// \file
/// What a decoder remembers between two words.
namespace vitascope::caption {

/// Keys and values of the words so far, with room for more.
struct Cache {
  at::Tensor keys, values;  ///< [R, H, capacity, D]

  /// Writes one word's, [R, H, 1, D], behind `length` words.
  void append(const at::Tensor& key, const at::Tensor& value, std::int64_t length);
};

/// The state of R rows over P photos. A decoder uses what it needs of it.
struct DecoderState {
  PhotoRows rows{};
  std::vector<Prepared> photos{};  ///< one, or one a layer
  at::Tensor hidden{}, cell{};     ///< [R, n] of an LSTM
  at::Tensor features{};           ///< [R, F] what the vocabulary layer read last
  std::vector<Cache> caches{};     ///< one a layer
  std::int64_t step = 0;           ///< words so far
};

/// Goes on from these rows: row i continues row rows[i]. Photos without a row are dropped.
/// \throws std::invalid_argument when there is no row of a number
void reorder(DecoderState& state, at::IntArrayRef rows);

}  // namespace vitascope::caption
