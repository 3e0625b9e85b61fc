#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "app/evaluation.h"
#include "app/finetune_options.h"
#include "datasets/labelled_images.h"
#include "datasets/training_loader.h"
#include "vit/train/trainer.h"

/// \file
/// The photos of `finetune`: opened, split, and as batches.
namespace vitascope::app {

/// Opens the data and makes sure that there is something to learn from and something to validate
/// with; what is odd is said on stderr, unless quiet.
/// \throws UsageError when the data can't be opened, has no labels or a single class
std::shared_ptr<const datasets::LabelledImages> open_training_data(const FinetuneOptions& options);

/// Decodes every photo once and says on stderr what is odd, unless --skip-check.
/// \return false when `interrupted` ended it
/// \throws FailureError when photos can't be decoded, without --on-bad-image skip
bool check_photos(const FinetuneOptions& options, const datasets::LabelledImages& images,
                  const std::function<bool()>& interrupted);

/// A number for the photos, their labels and their splits: a run goes on only with the same.
std::string data_fingerprint(const datasets::LabelledImages& images);

/// What the loss weighs the classes with, or an undefined tensor.
at::Tensor class_weights(const FinetuneOptions& options, const datasets::LabelledImages& images);

/// The answers to samples, in the order of the data.
/// \param samples [n] in any order
/// \param logits  [n, K]
Answers answers_of(const datasets::LabelledImages& images, const std::vector<std::size_t>& samples,
                   const at::Tensor& logits);

/// Adds what `evaluate` tells of answers to the same photos, by the same names: `macro_f1` over the
/// classes that occur, and with several labels a photo `map` and `micro_f1`.
void add_class_figures(const Answers& answers, train::Metrics& figures);

/// What a network makes of the photos of validation.
struct Validation {
  train::Metrics metrics;
  Answers answers;
};

/// The photos as a trainer wants them.
class FinetuneData {
 public:
  /// \param group of the processes that share every batch; null: this one alone
  FinetuneData(std::shared_ptr<const datasets::LabelledImages> images,
               const image::Specification& specification, const FinetuneOptions& options,
               int threads, train::ProcessGroup* group);

  /// This process's part of the next batch; nothing at the end of an epoch. Photos left out are
  /// named on stderr.
  std::optional<train::Batch> next();

  /// `accuracy` and `loss` (without smoothing), and what add_class_figures adds, over the
  /// photos of validation, of which each process looks at a part; and the answers to all of them.
  Validation validate(const model::VisionTransformer& network, kernels::Backend backend) const;
  /// The same by this process alone.
  Validation validate_alone(const model::VisionTransformer& network,
                            kernels::Backend backend) const;
  /// The same of the photos for testing.
  /// \throws FailureError when there are none
  Validation test_alone(const model::VisionTransformer& network, kernels::Backend backend) const;

  std::int64_t batches() const { return static_cast<std::int64_t>(loader_.batches()); }
  /// [B, 3, H, W] of a full batch.
  std::vector<std::int64_t> batch_shape() const;
  /// What photos take that are made ready ahead, and on their way into the network.
  std::int64_t loader_bytes() const;
  double waiting_share() const { return loader_.waiting_share(); }
  datasets::LoaderState state() const { return loader_.state(); }
  void restore(const datasets::LoaderState& state) { loader_.restore(state); }

 private:
  train::Batch batch_of(datasets::TrainingBatch loaded) const;
  Validation measure(const model::VisionTransformer& network, kernels::Backend backend,
                     const std::vector<std::size_t>& samples, train::ProcessGroup* group) const;

  std::shared_ptr<const datasets::LabelledImages> images_;
  train::ProcessGroup* group_;
  datasets::PhotoRecipe validation_;
  datasets::TrainingLoaderOptions options_;
  std::vector<std::size_t> held_out_;
  datasets::TrainingLoader loader_;
};

}  // namespace vitascope::app
