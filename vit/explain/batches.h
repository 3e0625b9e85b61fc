#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <functional>

/// \file
/// Many altered pictures through a model, a few at a time.
namespace vitascope::explain {

/// What a model answers: normalised pixels [B, 3, H, W] -> logits or probabilities [B, classes].
using Scores = std::function<at::Tensor(const at::Tensor& pixels)>;

/// Called after each batch with the pictures done and how many there are. To end the work it
/// throws; nothing is kept.
using BatchProgress = std::function<void(std::int64_t done, std::int64_t all)>;

/// How many pictures go through the model at once.
struct Batching {
  std::int64_t size = 16;
  BatchProgress progress = {};  ///< may be empty
};

/// Asks `scores` for `count` pictures. Each is made when its batch comes, so that they are never
/// all in memory. \param picture index -> [1, 3, H, W]; called once an index, in order \param take
/// first index of a batch and its answers, float64 [b, classes] on the CPU
void score_in_batches(
    const Scores& scores, std::int64_t count,
    const std::function<at::Tensor(std::int64_t index)>& picture, const Batching& batching,
    const std::function<void(std::int64_t first, const at::Tensor& answers)>& take);

}  // namespace vitascope::explain
