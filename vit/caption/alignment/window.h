#pragma once

#include "vit/caption/alignment/config.h"
#include "vit/caption/slots.h"

/// \file
/// Local attention (Luong et al. 2015, arXiv:1508.04025, section 3.2), over any score.
namespace vitascope::caption {

/// What a query sees, and how the weights of what it sees fade away from its centre.
struct Field {
  at::Tensor visible{};  ///< bool, broadcasts to [B, Q, L]; undefined: everything
  at::Tensor fading{};   ///< [B, Q, L], times which weights are taken; undefined: 1
};

/// The places that it is asked about.
struct Places {
  std::int64_t count = 0;    ///< L
  std::int64_t columns = 0;  ///< of the grid
  at::Tensor mask{};         ///< bool [B, 1, L], or undefined
  at::Tensor lengths{};      ///< [B, 1], places that are seen; undefined: all L
};

/// The window |s - p| <= D around a centre p, places counted from 0. local_m: p is the step.
/// local_p: p = length * sigmoid(v_p^T tanh(W_p q)), and weights are multiplied by
/// exp(-(s - p)^2 / (2 sigma^2)) with sigma = D / 2, without being brought to a sum of 1 again.
/// local_p_grid, an extension of ours: a predicted row and column, each with a vector of its own,
/// and a product of two Gaussians. The gradient flows through p; the edge of a window has none.
struct Window {
  Reach reach = Reach::global;
  double half_width = 2;
  at::Tensor hidden;       ///< W_p [A, Dq]
  at::Tensor place;        ///< v_p [A]
  at::Tensor row, column;  ///< v_row, v_col [A]

  /// Appends W_p and v_p, or W_p, v_row and v_col, or nothing.
  void list(const AlignmentConfig& config, const std::string& prefix, Slots& slots);

  /// Predicted centres as a share of the way, [B, Q, 1]: one for a sequence, row and column for a
  /// grid.
  std::vector<at::Tensor> predicted(const at::Tensor& queries) const;

  /// \param queries [B, Q, Dq] \param step number of the word, from 0
  Field field(const at::Tensor& queries, const Places& places, std::int64_t step) const;
};

}  // namespace vitascope::caption
