#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <string>

/// \file
/// A convolution with what follows it: batch norm, a sum, an activation.
namespace vitascope::caption {

/// What bounds the sum at last; relu6 to 0..6.
enum class Activation { none, relu, relu6 };

/// Batch normalisation (Ioffe and Szegedy 2015, arXiv:1502.03167) by the statistics of training,
/// which fine-tuning leaves as they are: a caption's batch is too small for statistics of its own.
struct BatchNorm {
  at::Tensor weight{}, bias{}, running_mean{}, running_var{};  ///< [out]; undefined: no such layer
  double epsilon = 1e-5;
};

/// A convolution of square kernels. What it is called and how it moves is known before its weights.
struct Convolution {
  std::string name;         ///< of `weight` and `bias`, without these words
  std::string norm_name{};  ///< of the batch norm's; empty: there is none
  bool biased = false;      ///< has a bias of its own
  std::int64_t kernel = 1;  ///< edge
  std::int64_t stride = 1;
  std::int64_t groups = 1;
  /// TensorFlow's 'same': as many zeros as ceil(size / stride) outputs need, the odd one behind.
  /// Else kernel / 2 on each side.
  bool same_padding = false;
  Activation activation = Activation::none;

  at::Tensor weight{};  ///< [out, in / groups, kernel, kernel], plain or packed
  at::Tensor bias{};    ///< [out], or undefined
  BatchNorm norm{};

  /// activation(norm(convolution(x)) + added).
  /// \param x     [B, in, H, W], quickest with channels last
  /// \param added [B, out, H', W'] or undefined; overwritten where the weights are packed
  /// \throws c10::Error when a gradient is wanted through packed weights
  at::Tensor forward(const at::Tensor& x, const at::Tensor& added = {}) const;

  /// Makes it quick for answers alone: batch norm becomes a part of weight and bias, and these take
  /// the order in which this processor's convolution reads them, where LibTorch has one.
  void pack();
};

}  // namespace vitascope::caption
