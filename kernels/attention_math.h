#pragma once

#include <ATen/core/Tensor.h>

#include "kernels/attention.h"

/// \file
/// Attention by LibTorch's own operators: the formula written out, which checks the kernels, and
/// LibTorch's fused operator.
namespace vitascope::kernels {

/// 1 / sqrt(D) unless the options say otherwise.
double scale_of(const at::Tensor& q, const AttentionOptions& options);

/// The formula, in float32 or in float64 where q is; takes all options.
Attended attention_by_formula(const at::Tensor& q, const at::Tensor& k, const at::Tensor& v,
                              const AttentionOptions& options);

/// scaled_dot_product_attention; no lse, no dropout.
Attended attention_by_sdpa(const at::Tensor& q, const at::Tensor& k, const at::Tensor& v,
                           const AttentionOptions& options);

}  // namespace vitascope::kernels
