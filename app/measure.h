#pragma once

#include <cstdint>
#include <string>
#include <vector>

/// \file
/// Measuring: the spread of repeated times, and the memory that a process took.
namespace vitascope::app {

/// Order statistics, quantiles interpolated linearly between neighbours.
struct Spread {
  double min = 0, lower_quartile = 0, median = 0, upper_quartile = 0, max = 0;
};

/// \throws InternalError when there are no values
Spread spread(std::vector<double> values);

/// Floating-point operations as "17.6 GFLOP", from kFLOP to TFLOP.
std::string operation_count(double operations);

/// The most memory that this process had resident since the start or the last reset (VmHWM), in
/// bytes; 0 where the kernel does not say.
std::int64_t peak_memory();

/// What this process has resident now (VmRSS), in bytes; 0 where the kernel does not say.
std::int64_t resident_memory();

/// What this process may still take before the machine, or its cgroup, has no more, in bytes; the
/// largest number where the kernel does not say.
std::int64_t available_memory();

/// Starts a new peak at what is resident now. Where the kernel refuses, the old peak stays.
void reset_peak_memory();

}  // namespace vitascope::app
