#include "vit/train/ema.h"

#include <ATen/ATen.h>
#include <c10/core/GradMode.h>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "vit/error.h"

namespace vitascope::train {

double ema_decay(const EmaOptions& options, std::int64_t update) {
  const auto t = static_cast<double>(update);
  switch (options.warmup) {
    case EmaWarmup::none:
      break;
    case EmaWarmup::tensorflow:
      return std::min(options.decay, (1 + t) / (10 + t));
    case EmaWarmup::timm:
      if (update <= 1) return 0;
      return std::min(options.decay, 1 - std::pow(1 + (t - 1) / options.gamma, -options.power));
  }
  return options.decay;
}

Ema::Ema(NamedTensors weights, const EmaOptions& options)
    : weights_(std::move(weights)), options_(options), updates_(at::zeros({}, at::kLong)) {
  if (!(options.decay >= 0 && options.decay <= 1)) {
    throw UsageError(
        fmt::format("the average of weights decays by {}: expected 0 to 1", options.decay));
  }
  if (!(options.gamma > 0 && options.power > 0)) {
    throw UsageError(fmt::format("the average's gamma is {} and its power {}: expected above 0",
                                 options.gamma, options.power));
  }
  for (const auto& [name, weight] : weights_) {
    const at::ScalarType type = weight.scalar_type() == at::kDouble ? at::kDouble : at::kFloat;
    average_.emplace(name, weight.detach().to(type, /*non_blocking=*/false, /*copy=*/true));
  }
}

void Ema::update() {
  const c10::AutoGradMode no_gradient(false);
  const double decay = ema_decay(options_, updates_.item<std::int64_t>());
  for (auto& [name, average] : average_) {
    average.lerp_(weights_.at(name).to(average.scalar_type()), 1 - decay);
  }
  updates_ += 1;
}

NamedTensors Ema::state() const {
  NamedTensors result{{"updates", updates_}};
  for (const auto& [name, average] : average_) result.emplace("average." + name, average);
  return result;
}

void Ema::restore(const NamedTensors& state) { restore_values(state, this->state()); }

}  // namespace vitascope::train
