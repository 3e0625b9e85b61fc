#pragma once

#include <ATen/core/Tensor.h>

/// \file
/// The score of additive attention (Bahdanau et al. 2015, arXiv:1409.0473).
namespace vitascope::kernels {

/// v^T tanh(q + k) for every query and key of a picture. In float32 on the CPU, where no gradient
/// is wanted, the sums q + k are never written; else the formula. \param queries [B, Q, A] \param
/// keys [B, L, A] \param v [A] \return [B, Q, L] \throws c10::Error when the shapes don't fit
at::Tensor additive_scores(const at::Tensor& queries, const at::Tensor& keys, const at::Tensor& v);

}  // namespace vitascope::kernels
