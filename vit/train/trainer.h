#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "vit/train/checkpoint.h"
#include "vit/train/ema.h"
#include "vit/train/gradient_buckets.h"
#include "vit/train/learner.h"
#include "vit/train/optimizer.h"
#include "vit/train/process_group.h"
#include "vit/train/schedule.h"

/// \file
/// The loop of training: batches in, better weights out. It knows no files; what it needs from
/// outside are functions.
namespace vitascope::train {

/// How it learns.
struct TrainerOptions {
  std::int64_t epochs = 10;
  std::int64_t accumulation = 1;  ///< batches to one update
  double clip_norm = 0;           ///< of all gradients together; 0: not clipped
  Schedule schedule;              ///< over updates
  Method method = AdamW{};
  std::optional<EmaOptions> ema{};  ///< given: the average is validated and kept, not the weights
  std::uint64_t seed = 0;
  std::string metric = "accuracy";  ///< of validation: it says which epoch is the best
  bool lower_is_better = false;
  std::int64_t patience = 0;  ///< epochs without a better one after which it ends; 0: never
};

/// Figures of validation by name.
using Metrics = std::map<std::string, double>;

/// What was learned from in an epoch so far.
struct EpochSums {
  double loss = 0;    ///< sum of sample losses
  double weight = 0;  ///< sum of their weights
  std::int64_t samples = 0;
  std::int64_t right = 0;    ///< \see Lesson
  std::int64_t answers = 0;  ///< \see Lesson
};

/// After each update.
struct StepReport {
  std::int64_t epoch = 0;  ///< from 0
  std::int64_t step = 0;   ///< updates so far
  std::int64_t samples = 0;
  double loss = 0;           ///< of this update's batches
  double rate = 0;           ///< learning rate that it used
  double gradient_norm = 0;  ///< before clipping
};

/// After each epoch.
struct EpochReport {
  std::int64_t epoch = 0;  ///< from 0
  std::int64_t step = 0;   ///< updates so far
  EpochSums sums;
  double rate = 0;  ///< of the last update
  Metrics metrics;
  bool best = false;            ///< better than every epoch before
  const NamedTensors& weights;  ///< as they were validated: the parameters, or their average
};

/// What is asked of a run between two steps.
enum class Request { none, save, stop };

/// The outside world.
struct TrainerHooks {
  /// The next batch; nothing once at the end of every epoch, after which the next epoch begins.
  std::function<std::optional<Batch>()> next;
  /// What the parameters with these values are worth; holds TrainerOptions::metric. Called without
  /// gradients.
  std::function<Metrics(const NamedTensors&)> validate;
  /// Asked after every step; of several processes, what one of them wants all do.
  std::function<Request()> request = [] { return Request::none; };
  std::function<void(const StepReport&)> on_step = [](const StepReport&) {};
  std::function<void(const EpochReport&)> on_epoch = [](const EpochReport&) {};
  /// Called after each epoch and when it is asked for.
  std::function<void(Checkpoint, std::int64_t step)> save = [](const Checkpoint&, std::int64_t) {};
  /// Those that train together: `next` gives this one's part of the batches that all share, which
  /// may be empty, and `validate` what it gives to all. They go on from the first one's state.
  /// Null: this process alone.
  ProcessGroup* group = nullptr;
};

/// How a run ended.
enum class Ending {
  finished,
  early,       ///< no better epoch within the patience
  interrupted  ///< saved first
};

/// A run.
class Trainer {
 public:
  /// \param learner outlives this
  /// \throws UsageError when an option is out of range
  Trainer(Learner& learner, const TrainerOptions& options, TrainerHooks hooks);

  /// Trains from where it stands to the end.
  /// \throws FailureError at a loss or gradient that is not finite, naming the batch's samples;
  ///         whatever a hook throws
  Ending run();

  /// Where it stands, between two steps.
  Checkpoint state() const;
  /// Goes on where `state` was taken.
  /// \throws UsageError when it is the state of another run
  void restore(const Checkpoint& state);

  /// A batch goes through the network and back; nothing is learned.
  void rehearse(const Batch& batch);
  /// Bytes that a step of such a batch will take for tensors on the CPU beyond those there are:
  /// parts of it are rehearsed, and what they took is extrapolated.
  std::int64_t step_bytes(const Batch& batch);

  std::int64_t epoch() const { return progress_.epoch; }
  std::int64_t step() const { return progress_.step; }

 private:
  struct Progress {
    std::int64_t epoch = 0;  ///< that is under way
    std::int64_t step = 0;   ///< updates so far
    EpochSums sums{};
    double rate = 0;
    std::optional<double> best{};
    std::int64_t waited = 0;  ///< epochs since the best
  };

  void go_on_from_first();
  Request agreed_request();
  bool train_step();
  void backward_all(std::vector<Batch>& batches, const std::vector<BatchPart>& parts,
                    StepReport& report);
  double backward(const Batch& batch, const BatchPart& part, const at::Tensor& total_weight,
                  EpochSums& sums);
  double clip();
  at::Tensor loss_weights(const Batch& batch) const;
  void finish_epoch();
  bool out_of_patience() const;

  Learner* learner_;
  TrainerOptions options_;
  TrainerHooks hooks_;
  Optimizer optimizer_;
  std::optional<Ema> ema_;
  std::unique_ptr<GradientBuckets> buckets_;
  RandomNumbers random_;
  Progress progress_;
};

}  // namespace vitascope::train
