#include "vit/train/schedule.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numbers>

#include "vit/error.h"

namespace vitascope::train {
namespace {

double decayed(const Schedule& schedule, double progress) {
  const double above = schedule.rate - schedule.final_rate;
  switch (schedule.decay) {
    case Decay::cosine:
      return schedule.final_rate + above / 2 * (1 + std::cos(std::numbers::pi * progress));
    case Decay::linear:
      return schedule.final_rate + above * (1 - progress);
    case Decay::constant:
      break;
  }
  return schedule.rate;
}

}  // namespace

Decay decay_named(std::string_view name) {
  if (name == "cosine") return Decay::cosine;
  if (name == "linear") return Decay::linear;
  if (name == "constant") return Decay::constant;
  throw UsageError(fmt::format("no decay '{}': expected cosine, linear or constant", name));
}

void validate(const Schedule& schedule) {
  if (schedule.steps < 1) {
    throw UsageError(fmt::format("a schedule of {} steps: expected at least one", schedule.steps));
  }
  if (schedule.warmup < 0 || schedule.warmup > schedule.steps) {
    throw UsageError(fmt::format("a warm-up of {} steps: expected 0 to {}, the steps of the run",
                                 schedule.warmup, schedule.steps));
  }
  for (const double rate :
       {schedule.rate, schedule.final_rate, schedule.warmup_start.value_or(0)}) {
    if (!std::isfinite(rate) || rate < 0) {
      throw UsageError(fmt::format("a learning rate of {}: expected 0 or more", rate));
    }
  }
}

double rate_at(const Schedule& schedule, std::int64_t step) {
  const auto t = static_cast<double>(step);
  const auto warmup = static_cast<double>(schedule.warmup);
  if (step < schedule.warmup) {
    if (!schedule.warmup_start) return schedule.rate * (t + 1) / warmup;
    return std::lerp(*schedule.warmup_start, schedule.rate, t / warmup);
  }
  const double start = schedule.decay_from_zero ? 0 : warmup;
  const double length = std::max(1.0, static_cast<double>(schedule.steps) - start);
  return decayed(schedule, std::min(1.0, (t - start) / length));
}

}  // namespace vitascope::train
