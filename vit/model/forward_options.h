#pragma once

#include <ATen/core/Tensor.h>

#include <vector>

#include "kernels/attention.h"
#include "vit/model/trace.h"

/// \file
/// What a forward pass is asked to do beside its answer.
namespace vitascope::model {

/// Probabilities to use in place of a block's own, to see what would follow from them.
struct Intervention {
  int layer = 0;                      ///< block, from 0
  std::vector<std::int64_t> heads{};  ///< empty: all of them
  std::vector<std::int64_t> rows{};   ///< queries; empty: all of them
  at::Tensor weights{};               ///< [B|1, heads, rows, N]; gradients flow through it
};

/// \see VisionTransformer::forward
struct ForwardOptions {
  kernels::Backend backend = kernels::Backend::automatic;
  Trace* trace = nullptr;      ///< filled when given
  PartTimes* times = nullptr;  ///< added to when given
  std::vector<Intervention> interventions{};
};

}  // namespace vitascope::model
