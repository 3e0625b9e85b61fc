#pragma once

#include <ATen/core/Tensor.h>

#include <vector>

/// \file
/// What a forward pass writes down when asked. The struct lives beside the model that fills it;
/// explanations and `verify` read it.
namespace vitascope::model {

/// Per layer, each only when asked. Never B*H*N*N: probabilities are recomputed from q and k.
struct Trace {
  bool want_hidden_states = false;
  bool want_queries_and_keys = false;
  bool want_values = false;
  bool want_attention_outputs = false;
  bool want_last_norm1 = false;

  std::vector<at::Tensor>
      hidden_states;  ///< 0: after the position embedding; i: after block i; [B, N, C]
  std::vector<at::Tensor> queries;  ///< [B, H, N, D], after qk-norm
  std::vector<at::Tensor> keys;     ///< [B, H, N, D], after qk-norm
  std::vector<at::Tensor> lse;      ///< [B, H, N] beside queries; undefined where sdpa ran
  std::vector<at::Tensor> values;   ///< [B, H, N, D]

  // Where autograd is on, these are nodes of its graph: gradients with respect to them are there
  // for the asking, though neither pixels nor weights have any.
  std::vector<at::Tensor> attention_outputs;  ///< [B, N, H * D], before the projection
  at::Tensor last_norm1;                      ///< what the last block's attention reads; [B, N, C]
};

/// The tensor as a node of autograd's graph: its first one where nothing before it needs gradients.
at::Tensor graph_node(const at::Tensor& tensor);

/// Seconds spent by part of the network, summed over blocks.
struct PartTimes {
  double embed = 0, attention = 0, mlp = 0, head = 0;
};

}  // namespace vitascope::model
