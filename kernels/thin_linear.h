#pragma once

#include "kernels/linear.h"

/// \file
/// Linear layers of a decoder that makes one word after the other.
namespace vitascope::kernels {

/// linear(x, weight, {.residual = residual}) for few rows. Up to 8, times plain weights in float32
/// on the CPU and without gradients, take little more time than reading the weights; the rest is
/// linear()'s. Not for what must be the same, to the bit, in batches of other sizes.
/// \param x [..., in] \param residual [..., out], or undefined
at::Tensor thin_linear(const at::Tensor& x, const Weight& weight, const at::Tensor& residual = {});

}  // namespace vitascope::kernels
