#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <string>
#include <vector>

#include "vit/random_numbers.h"
#include "vit/train/optimizer.h"
#include "vit/train/process_group.h"

/// \file
/// What a trainer must know of that which it trains.
namespace vitascope::train {

/// Samples that go through the network together.
struct Batch {
  at::Tensor inputs{};               ///< float32 [B, ...]; B may be 0
  at::Tensor targets{};              ///< [B, ...]
  at::Tensor weights{};              ///< float32 [B], of the samples' losses; undefined: all 1
  std::vector<std::string> names{};  ///< [B], for messages
};

/// What a network made of a batch.
struct Lesson {
  at::Tensor losses{};       ///< float32 [B], with gradients to the parameters
  std::int64_t right = 0;    ///< answers as the targets have them
  std::int64_t answers = 0;  ///< that were asked for
};

/// A network, and how it learns from a batch.
class Learner {
 public:
  virtual ~Learner() = default;

  /// What learns: leaves of autograd's graph, the same ones at each call.
  virtual const std::vector<Parameter>& parameters() const = 0;

  /// Changes a batch before it is learned from, e.g. mixes its samples.
  virtual void prepare(Batch& batch, RandomNumbers& random) const = 0;

  /// What the losses of the samples weigh, Batch::weights left out; float32 [B] of the targets
  /// alone.
  virtual at::Tensor weights(const Batch& batch) const = 0;

  /// Random numbers are drawn for the whole batch that processes share, also by one whose part of
  /// it is empty, which has no losses.
  virtual Lesson learn(const Batch& batch, const BatchPart& part, RandomNumbers& random) = 0;

  /// What it remembers of the batches so far, beside the parameters; empty: nothing.
  virtual std::string state() const { return {}; }
  /// Goes on where `state` was taken. \throws std::invalid_argument when it is no state
  virtual void restore(const std::string& /*state*/) {}
};

}  // namespace vitascope::train
