#pragma once

#include <ATen/core/Tensor.h>

/// \file
/// Layer normalisation (Ba et al. 2016).
namespace vitascope::model {

/// Weights of a layer normalisation over the last dimension; undefined weight: no such layer.
struct LayerNorm {
  at::Tensor weight, bias;  ///< [C]
  double epsilon = 1e-6;

  /// x unchanged when there is no such layer.
  at::Tensor operator()(const at::Tensor& x) const;
};

}  // namespace vitascope::model
