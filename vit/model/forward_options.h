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

/// What training asks of a forward pass; as it is by default, nothing.
struct Training {
  /// Drop path: what the attention and the MLP branch of each block are multiplied by, sample by
  /// sample. float32 [depth, 2, B]; undefined: 1.
  at::Tensor branch_scales{};
  /// Dropout: what the head reads is multiplied by it. float32 [B, F]; undefined: 1.
  at::Tensor feature_scales{};
  /// Blocks keep their input alone and compute the rest again in the backward pass (Chen et al.
  /// 2016, arXiv:1604.06174).
  bool recompute = false;
};

/// \see VisionTransformer::forward
struct ForwardOptions {
  kernels::Backend backend = kernels::Backend::automatic;
  Trace* trace = nullptr;      ///< filled when given
  PartTimes* times = nullptr;  ///< added to when given
  std::vector<Intervention> interventions{};
  Training training{};
};

}  // namespace vitascope::model
