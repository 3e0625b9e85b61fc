#pragma once

#include <ATen/core/Tensor.h>

/// \file
/// y = x W^T + b, with what follows it done in the same pass.
namespace vitascope::kernels {

/// The weights of a linear layer. Plain tensors today; packed forms for a precision and an
/// instruction set hide behind the same type.
struct Weight {
  at::Tensor weight{};  ///< [out, in]
  at::Tensor bias{};    ///< [out], or undefined
};

/// What follows the product; gelu is the exact one (Hendrycks and Gimpel 2016, arXiv:1606.08415).
enum class Activation { none, gelu, gelu_tanh, quick_gelu, relu, silu };

/// What is done to the product before it is returned.
struct Epilogue {
  Activation activation = Activation::none;
  at::Tensor scale{};     ///< [out], LayerScale's gamma, or undefined
  at::Tensor residual{};  ///< [..., out], added last, or undefined
};

/// residual + scale * activation(x W^T + b).
/// \param x [..., in]
/// \return  [..., out], the precision of x
at::Tensor linear(const at::Tensor& x, const Weight& weight, const Epilogue& epilogue = {});

}  // namespace vitascope::kernels
