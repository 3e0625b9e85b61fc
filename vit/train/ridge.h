#pragma once

#include <ATen/core/Tensor.h>

#include <span>

/// \file
/// Linear least squares with a penalty, in closed form, for many penalties at once.
namespace vitascope::train {

/// Samples as a linear fit sees them.
struct LinearSamples {
  at::Tensor features;   ///< [n, F]
  at::Tensor targets;    ///< [n, K]
  at::Tensor weights{};  ///< [n], 0 or more; undefined: all 1
};

/// The minimum of sum_i w_i |x_i W + b - y_i|^2 + n penalty |W|^2, where n is the sum of w.
struct RidgeFit {
  at::Tensor weight;   ///< [F, K] float64
  at::Tensor bias;     ///< [K] float64; not penalised
  double penalty = 0;  ///< the one of those given whose errors of `left_out` are smallest
  /// [n, K] float64: what the fit without sample i says of it, without fitting n times: the error
  /// of all samples together over 1 - h_i, its leverage (Allen 1974; Hastie et al., The Elements of
  /// Statistical Learning, 7.10).
  at::Tensor left_out;
};

/// Fits in float64, whatever the type of the samples: one eigendecomposition of [F, F] or [n, n],
/// whichever is smaller.
/// \param penalties positive, one or more
/// \throws std::invalid_argument when shapes don't fit, there are no samples or no penalties
RidgeFit fit_ridge(const LinearSamples& samples, std::span<const double> penalties);

/// What a mean over samples divides by: the weights, or 1 for each.
/// \return [n] float64
at::Tensor sample_weights(const LinearSamples& samples);

}  // namespace vitascope::train
