#pragma once

#include <ATen/core/Tensor.h>

#include "vit/explain/record.h"

/// \file
/// The matrices of one layer for one picture, one head at a time, so that N * N numbers are the
/// most that is in memory: what was recorded is q, k and v, and the matrices are computed from
/// them.
namespace vitascope::explain {

/// One layer of one picture of what was recorded.
class Layer {
 public:
  /// \throws std::invalid_argument when there is no such layer or picture, or attention was not
  ///         recorded
  Layer(const Recorded& recorded, int layer, std::int64_t picture);

  int heads() const { return static_cast<int>(q_.size(1)); }
  std::int64_t tokens() const { return q_.size(2); }

  /// softmax(q k^T / sqrt(D)) of a head; float32 [R, N].
  /// \param rows int64 [R]: queries; undefined: all of them
  at::Tensor probabilities(int head, const at::Tensor& rows = {}) const;
  /// The mean over heads; float32 [R, N].
  at::Tensor mean_probabilities(const at::Tensor& rows = {}) const;

  /// d loss / d probabilities of a head; float32 [N, N].
  /// \param output_gradients d loss / d attention output, per layer [B, N, H * D]
  at::Tensor gradient(int head, const std::vector<at::Tensor>& output_gradients) const;

 private:
  std::size_t layer_;
  std::int64_t picture_;
  at::Tensor q_, k_, v_, lse_;  ///< [1, H, N, D]; v and lse may be undefined
};

/// Numbers of layers that were recorded.
int depth(const Recorded& recorded);

/// The patches of a row over tokens [N] or [1, N] as rows and columns, on the CPU: prefix tokens
/// dropped, nothing renormalised.
at::Tensor on_grid(const Recorded& recorded, const at::Tensor& row);

}  // namespace vitascope::explain
