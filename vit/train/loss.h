#pragma once

#include <ATen/core/Tensor.h>

#include <span>
#include <vector>

/// \file
/// What training makes small. Targets are soft, one number a sample and class, so that smoothing
/// and mixing are arithmetic on targets.
namespace vitascope::train {

/// The formula; z are logits, p their softmax, u the target and t the smoothed one.
enum class LossKind {
  /// -sum_c w_c t_c ln p_c, mean weighted by sum_c w_c u_c: PyTorch's, for class weights too.
  cross_entropy,
  /// -sum_c w_c t_c (1 - p_c)^gamma ln p_c, plain mean (Lin 2017, arXiv:1708.02002); w is its
  /// alpha.
  focal,
  /// Mean over classes of w_c (-t_c ln s_c - (1 - t_c) ln (1 - s_c)), s = sigmoid(z); plain mean.
  binary,
  /// Sum over classes of w_c (-t_c (1 - s_c)^g+ ln s_c - (1 - t_c) m_c^g- ln (1 - m_c)), where
  /// m = max(0, s - margin); plain mean (Ben-Baruch 2021, arXiv:2009.14119).
  asymmetric,
};

/// \see LossKind
struct LossOptions {
  LossKind kind = LossKind::cross_entropy;
  double smoothing = 0;        ///< t = (1 - smoothing) u + smoothing / K (Szegedy 2016)
  at::Tensor class_weights{};  ///< [K]; undefined: all 1
  double gamma = 2;            ///< focal
  double positive_gamma = 1;   ///< asymmetric: g+
  double negative_gamma = 4;   ///< asymmetric: g-
  double margin = 0.05;        ///< asymmetric
};

/// The loss of each sample. The loss of a batch is sum(values) / sum(weights); the weights depend
/// on targets alone, so that the sum over several batches or processes is known before the first
/// one's backward pass.
struct SampleLosses {
  at::Tensor values;   ///< [B] float32 (float64 for such logits), with gradient
  at::Tensor weights;  ///< [B]

  at::Tensor mean() const;
};

/// \param logits  [B, K]; bfloat16 is computed in float32
/// \param targets [B, K], 0 .. 1: rows that sum to 1, or for binary and asymmetric any
/// \throws std::invalid_argument when the shapes don't fit
SampleLosses sample_losses(const at::Tensor& logits, const at::Tensor& targets,
                           const LossOptions& options);

/// 1 for the classes that a sample has, else 0: float32 [B, classes]. Of one label a sample this is
/// one-hot.
/// \throws std::invalid_argument when a label is not below `classes`
at::Tensor targets_of(std::span<const std::vector<std::int64_t>> labels, std::int64_t classes);

}  // namespace vitascope::train
