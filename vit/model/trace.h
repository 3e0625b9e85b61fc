#pragma once

#include <ATen/core/Tensor.h>

#include <array>
#include <vector>

/// \file
/// What a forward pass writes down when asked. The struct lives beside the model that fills it;
/// explanations and `verify` read it.
namespace vitascope::model {

/// Per layer, each only when asked. Never B*H*N*N: probabilities are recomputed from q and k.
struct Trace {
  bool want_hidden_states = false;
  bool want_queries_and_keys = false;

  std::vector<at::Tensor>
      hidden_states;  ///< 0: after the position embedding; i: after block i; [B, N, C]
  std::vector<at::Tensor> queries;  ///< [B, H, N, D], after qk-norm
  std::vector<at::Tensor> keys;     ///< [B, H, N, D], after qk-norm
  std::vector<at::Tensor> lse;      ///< [B, H, N] beside queries; undefined where sdpa ran
};

/// Seconds spent by part of the network, summed over blocks.
struct PartTimes {
  double embed = 0, attention = 0, mlp = 0, head = 0;
};

}  // namespace vitascope::model
