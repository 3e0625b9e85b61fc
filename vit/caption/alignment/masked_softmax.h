#pragma once

#include <ATen/core/Tensor.h>

/// \file
/// Softmax over what is seen.
namespace vitascope::caption {

/// Softmax over the last dimension; what is hidden gets 0, and a row that sees nothing is 0
/// throughout, with gradients of 0.
/// \param visible bool, broadcasts to the scores; undefined: all is seen
at::Tensor masked_softmax(const at::Tensor& scores, const at::Tensor& visible);

}  // namespace vitascope::caption
