#pragma once

#include <cstdint>
#include <vector>

#include "vit/train/loss.h"
#include "vit/train/ridge.h"

/// \file
/// A linear classifier on features of a frozen network.
namespace vitascope::train {

/// logits = features weight^T + bias, as the head of a network has them.
struct LinearHead {
  at::Tensor weight;  ///< [K, F] float32
  at::Tensor bias;    ///< [K] float32

  /// \param features [n, F] \return [n, K]
  at::Tensor logits(const at::Tensor& features) const;
};

/// How a head is found. Features are standardised inside.
struct LinearHeadOptions {
  /// Binary and asymmetric: samples have any number of classes.
  LossOptions loss{};
  /// Of the closed-form start; the errors of samples left out choose.
  std::vector<double> penalties{1e-3, 3e-3, 1e-2, 3e-2, 0.1, 0.3, 1, 3, 10, 30};
  /// Every learning rate is tried with every weight decay; all start from the closed form.
  std::vector<double> rates{1e-4, 3e-4, 1e-3, 3e-3, 1e-2, 3e-2};
  std::vector<double> weight_decays{0, 1};
  std::int64_t steps = 100;
  std::int64_t batch_size = 16384;  ///< samples of a step; of fewer samples all are in each
  std::uint64_t seed = 0;           ///< of their order, where a step takes a part
};

/// One of the heads that were trained side by side.
struct HeadCandidate {
  double rate = 0;  ///< 0: the closed form as it is
  double weight_decay = 0;
  double score = 0;  ///< on validation: accuracy, or mAP where samples have several classes
  double loss = 0;   ///< on validation
};

/// What training gives.
struct TrainedHead {
  LinearHead head;
  double penalty = 0;                     ///< of the closed-form start
  std::vector<HeadCandidate> candidates;  ///< the closed form first
  std::size_t chosen = 0;                 ///< highest score, of equal ones the smallest loss
};

/// How good answers are: mAP where samples have several classes, else accuracy.
/// \param scores [n, K], logits or votes; the largest is the answer
/// \param targets [n, K]
double validation_score(const at::Tensor& scores, const at::Tensor& targets, bool several);

/// Ridge regression on the targets, scaled to logits; from there AdamW with all rates at once, one
/// product for all of them (as DINOv2's evaluation does, arXiv:2304.07193), cosine to 0. The choice
/// is made on `validation`. With no more samples than a batch their order does not matter.
/// \throws std::invalid_argument when shapes don't fit or a set is empty
/// \throws UsageError when an option is out of range
TrainedHead train_linear_head(const LinearSamples& training, const LinearSamples& validation,
                              const LinearHeadOptions& options);

}  // namespace vitascope::train
