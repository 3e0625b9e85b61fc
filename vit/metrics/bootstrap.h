#pragma once

#include <cstdint>
#include <functional>
#include <span>

/// \file
/// How far a figure would swing with other samples: the percentile bootstrap (Efron 1979).
namespace vitascope::metrics {

/// An interval of confidence.
struct Interval {
  double low = 0, high = 0;
};

/// How a bootstrap draws.
struct BootstrapOptions {
  double level = 0.95;  ///< of confidence, between 0 and 1
  std::int64_t resamples = 2000;
  std::uint64_t seed = 0;
};

/// A figure of the samples with these indices, of which some come more than once: accuracy, F1, the
/// difference of two models.
using Statistic = std::function<double(std::span<const std::int64_t> indices)>;

/// Draws `count` of 0 .. count - 1 with replacement, time and again; the interval runs between the
/// quantiles (1 -+ level) / 2 of the statistic.
/// \throws std::invalid_argument when count or resamples is below 1, the level not between 0 and 1,
///         or the statistic not a number
Interval bootstrap(std::int64_t count, const Statistic& statistic,
                   const BootstrapOptions& options = {});

/// The same for the mean of x.
Interval bootstrap_mean(std::span<const double> x, const BootstrapOptions& options = {});

/// The value that a share (0 .. 1) of the sorted ones, one or more, lies below, interpolated
/// linearly.
double quantile(std::span<const double> sorted, double share);

}  // namespace vitascope::metrics
