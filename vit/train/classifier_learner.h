#pragma once

#include <vector>

#include "kernels/attention.h"
#include "vit/model/vision_transformer.h"
#include "vit/train/learner.h"
#include "vit/train/loss.h"
#include "vit/train/mixup.h"
#include "vit/train/trainable.h"

/// \file
/// A vision transformer that learns classes.
namespace vitascope::train {

/// How it learns.
struct ClassifierLearning {
  RuleOptions rules{};
  Tuning tuning = Tuning::full;
  LossOptions loss{};
  MixOptions mix{};
  double drop_path = 0;                   ///< rate of the last block
  double dropout = 0;                     ///< rate of the features that the head reads
  bool recompute = false;                 ///< \see model::Training
  at::ScalarType precision = at::kFloat;  ///< kBFloat16: with exact weights beside
  kernels::Backend backend = kernels::Backend::automatic;
};

/// Batches: inputs are pixels [B, 3, H, W], targets float32 [B, classes].
class ClassifierLearner : public Learner {
 public:
  /// \param network its slots become trainable; other copies of it are not touched. For
  ///        Tuning::lora add_lora has been called
  /// \throws UsageError when an option is out of range
  ClassifierLearner(model::VisionTransformer network, const ClassifierLearning& options);

  const std::vector<Parameter>& parameters() const override { return parameters_; }
  void prepare(Batch& batch, RandomNumbers& random) const override;
  at::Tensor weights(const Batch& batch) const override;
  Lesson learn(const Batch& batch, const BatchPart& part, RandomNumbers& random) override;

  /// As it is trained now.
  const model::VisionTransformer& network() const { return network_; }

  /// A batch without content, to rehearse with.
  /// \param pixels [B, 3, H, W] of it
  Batch blank_batch(at::IntArrayRef pixels) const;

 private:
  ClassifierLearning options_;
  model::VisionTransformer network_;
  std::vector<Parameter> parameters_;
  std::vector<double> drop_path_rates_;
};

}  // namespace vitascope::train
