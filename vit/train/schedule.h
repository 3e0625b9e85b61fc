#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

/// \file
/// The learning rate step by step: a warm-up, then a decay (SGDR, arXiv:1608.03983).
namespace vitascope::train {

/// What follows the warm-up.
enum class Decay { cosine, linear, constant };

/// The decay of that name.
/// \throws UsageError when there is none
Decay decay_named(std::string_view name);

/// Steps are updates of the weights, not batches or epochs. W = warmup, T = steps.
struct Schedule {
  std::int64_t steps = 1;  ///< of the whole run
  std::int64_t warmup = 0;
  double rate = 1e-3;     ///< at the end of the warm-up
  double final_rate = 0;  ///< where cosine and linear end
  Decay decay = Decay::cosine;
  /// Given: the warm-up rises from here, start + (rate - start) t / W (timm; transformers with 0).
  /// Else it is rate (t + 1) / W, so that the first step already counts and the last has the rate.
  std::optional<double> warmup_start{};
  /// The decay runs over all T steps, as if there were no warm-up (timm without warmup_prefix);
  /// else over the T - W steps after it.
  bool decay_from_zero = false;
};

/// \throws UsageError when the schedule makes no sense: a negative rate, a warm-up longer than the
///         run, rates that are not finite
void validate(const Schedule& schedule);

/// The learning rate of step t, counted from 0; after the last step, that of the end.
double rate_at(const Schedule& schedule, std::int64_t step);

}  // namespace vitascope::train
