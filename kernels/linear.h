#pragma once

#include <ATen/core/Tensor.h>

/// \file
/// y = x W^T + b, with what follows it done in the same pass.
namespace vitascope::kernels {

/// The weights of a linear layer. What is multiplied with is weight + low_rank_scale up down; where
/// `down` is undefined the weight alone (LoRA: Hu et al. 2021, arXiv:2106.09685).
struct Weight {
  at::Tensor weight{};  ///< [out, in], plain or packed
  at::Tensor bias{};    ///< [out], or undefined
  at::Tensor down{};    ///< [rank, in], LoRA's A
  at::Tensor up{};      ///< [out, rank], LoRA's B
  double low_rank_scale = 1;
};

/// Whether this processor multiplies matrices of that type with oneDNN. What bfloat16 and float16
/// need (AVX-512, say) is LibTorch's to know: it is asked once, by a small weight. Without,
/// products work, several times slower than those of float32.
bool has_product(at::ScalarType type);

/// The same numbers in the order in which this processor's product reads them (oneDNN's blocked
/// layout): quicker, but opaque, for inference on the CPU only. Returned as it came where there
/// is no such product, \see has_product.
/// \param weight [out, in], plain, on the CPU
at::Tensor pack(const at::Tensor& weight);

/// What follows the product; gelu is the exact one (Hendrycks and Gimpel 2016, arXiv:1606.08415).
enum class Activation { none, gelu, gelu_tanh, quick_gelu, relu, silu };

/// What is done to the product before it is returned.
struct Epilogue {
  Activation activation = Activation::none;
  at::Tensor scale{};     ///< LayerScale's gamma [out], or what broadcasts to y, or undefined
  at::Tensor residual{};  ///< [..., out], added last, or undefined
};

/// residual + scale * activation(x W^T + b).
/// \param x [..., in]
/// \return  [..., out], the precision of x
/// \throws c10::Error when a gradient is wanted through a packed weight
at::Tensor linear(const at::Tensor& x, const Weight& weight, const Epilogue& epilogue = {});

}  // namespace vitascope::kernels
