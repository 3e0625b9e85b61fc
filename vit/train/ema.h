#pragma once

#include <cstdint>

#include "vit/train/named_tensors.h"

/// \file
/// The exponential moving average of weights (Polyak and Juditsky 1992), often the better model.
namespace vitascope::train {

/// How the decay rises, so that the first weights are soon forgotten.
enum class EmaWarmup {
  none,        ///< decay from the start
  tensorflow,  ///< min(decay, (1 + t) / (10 + t))
  timm,        ///< ModelEmaV3: 0 for t <= 1, then min(decay, 1 - (1 + (t - 1) / gamma)^-power)
};

/// \see EmaWarmup
struct EmaOptions {
  double decay = 0.9998;
  EmaWarmup warmup = EmaWarmup::tensorflow;
  double gamma = 1;
  double power = 2.0 / 3;
};

/// The decay of update t, counted from 0.
double ema_decay(const EmaOptions& options, std::int64_t update);

/// average = decay average + (1 - decay) weights, after each step.
class Ema {
 public:
  /// \param weights what is followed, by name; Optimizer::weights() gives it. The average starts as
  ///        a copy, half types in float32.
  /// \throws UsageError when an option is out of range
  Ema(NamedTensors weights, const EmaOptions& options);

  /// Takes in the weights as they are now.
  void update();

  /// By the names of the weights.
  const NamedTensors& average() const { return average_; }

  /// `updates` and `average.NAME`.
  NamedTensors state() const;
  /// Goes on where `state` was taken.
  /// \throws std::invalid_argument that names what does not fit
  void restore(const NamedTensors& state);

 private:
  NamedTensors weights_;
  EmaOptions options_;
  NamedTensors average_;
  at::Tensor updates_;  ///< int64 scalar
};

}  // namespace vitascope::train
