#pragma once

#include <ATen/core/Tensor.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "datasets/augmented_photo.h"
#include "datasets/sampling_order.h"

/// \file
/// Batches of training: decoded and augmented ahead by worker threads, in an order that can be
/// resumed.
namespace vitascope::datasets {

/// What happens to a photo that can't be decoded. It is never replaced by another one.
enum class OnBadImage {
  error,  ///< next() throws
  skip    ///< its batch is smaller and names it
};

/// How batches are made.
struct TrainingLoaderOptions {
  std::size_t batch_size = 16;  ///< of all processes together
  int threads = 1;
  std::size_t ahead = 64;  ///< photos kept ready at most
  Shard shard;
  OnBadImage on_bad_image = OnBadImage::error;
  /// Every class equally often, instead of every picture once an epoch. A picture with several
  /// labels stands for the rarest.
  bool balanced = false;
};

/// A photo that was left out and why.
struct SkippedPhoto {
  std::string path, message;
};

/// Pictures that go through the model together.
struct TrainingBatch {
  at::Tensor pixels;                  ///< float32 [B, 3, H, W]; B may be 0 in the last batch
  at::Tensor targets;                 ///< one label each: int64 [B]; several: float32 [B, classes]
  at::Tensor weights;                 ///< float32 [B]
  std::vector<std::size_t> samples;   ///< [B] indices into the data set
  std::vector<SkippedPhoto> skipped;  ///< what would have been here too
};

/// What a checkpoint keeps of a loader.
struct LoaderState {
  std::string name;
  std::string bytes;
};

/// Walks through the training samples epoch after epoch. Order and augmentation depend on the
/// recipe's seed, the epoch and the sample only, neither on threads nor on the number of processes.
class TrainingLoader {
 public:
  /// \param samples indices of the samples to learn from
  /// \throws UsageError when there are none, or photos would not all get one size
  TrainingLoader(std::shared_ptr<const LabelledImages> images, std::vector<std::size_t> samples,
                 PhotoRecipe recipe, const TrainingLoaderOptions& options);
  ~TrainingLoader();
  TrainingLoader(const TrainingLoader&) = delete;
  TrainingLoader& operator=(const TrainingLoader&) = delete;

  /// The next batch; nothing once at the end of each epoch, after which the next epoch begins,
  /// whose first photos are being decoded already. \throws InputError naming the photos that can't
  /// be decoded, with OnBadImage::error
  std::optional<TrainingBatch> next();

  /// Batches of a whole epoch.
  std::size_t batches() const;
  /// The epoch of the batch that next() gives, from 0 on.
  std::uint64_t epoch() const;
  /// The part of the time since the epoch's first next() that was spent waiting in next(), 0 to 1.
  double waiting_share() const;

  /// Where the next batch begins; valid for any number of processes.
  LoaderState state() const;
  /// \throws UsageError when the state is another loader's: other data, another seed, or damaged
  void restore(const LoaderState& state);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace vitascope::datasets
