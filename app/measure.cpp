#include "app/measure.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <fstream>
#include <limits>
#include <optional>
#include <string>
#include <string_view>

#include "vit/error.h"

namespace vitascope::app {
namespace {

double quantile(const std::vector<double>& sorted, double share) {
  const double position = share * double(sorted.size() - 1);
  const auto below = std::size_t(std::floor(position));
  const std::size_t above = std::min(below + 1, sorted.size() - 1);
  return sorted[below] + (position - double(below)) * (sorted[above] - sorted[below]);
}

/// The number of kilobytes after a word, in bytes.
std::optional<std::int64_t> kernel_figure(const char* file, std::string_view name) {
  std::ifstream lines(file);
  for (std::string word; lines >> word;) {
    std::int64_t kilobytes = 0;
    if (word == name && lines >> kilobytes) return kilobytes * 1024;
  }
  return std::nullopt;
}

}  // namespace

Spread spread(std::vector<double> values) {
  if (values.empty()) throw InternalError("spread: no values");
  std::ranges::sort(values);
  return {values.front(), quantile(values, 0.25), quantile(values, 0.5), quantile(values, 0.75),
          values.back()};
}

std::string operation_count(double operations) {
  constexpr std::array units{"kFLOP", "MFLOP", "GFLOP", "TFLOP"};
  std::size_t unit = 0;
  for (operations /= 1000; operations >= 999.95 && unit + 1 < units.size(); ++unit) {
    operations /= 1000;
  }
  return fmt::format("{:.1f} {}", operations, units[unit]);
}

std::int64_t peak_memory() { return kernel_figure("/proc/self/status", "VmHWM:").value_or(0); }

std::int64_t resident_memory() { return kernel_figure("/proc/self/status", "VmRSS:").value_or(0); }

std::int64_t available_memory() {
  constexpr auto kUnlimited = std::numeric_limits<std::int64_t>::max();
  const std::int64_t free = kernel_figure("/proc/meminfo", "MemAvailable:").value_or(kUnlimited);
  std::int64_t most = 0;
  std::int64_t used = 0;
  const bool limited = std::ifstream("/sys/fs/cgroup/memory.max") >> most &&
                       std::ifstream("/sys/fs/cgroup/memory.current") >> used;
  return limited ? std::min(free, std::max<std::int64_t>(most - used, 0)) : free;
}

void reset_peak_memory() { std::ofstream("/proc/self/clear_refs") << "5"; }

}  // namespace vitascope::app
