#include "app/measure.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <fstream>
#include <string>

#include "vit/error.h"

namespace vitascope::app {
namespace {

double quantile(const std::vector<double>& sorted, double share) {
  const double position = share * double(sorted.size() - 1);
  const auto below = std::size_t(std::floor(position));
  const std::size_t above = std::min(below + 1, sorted.size() - 1);
  return sorted[below] + (position - double(below)) * (sorted[above] - sorted[below]);
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

std::int64_t peak_memory() {
  std::ifstream status("/proc/self/status");
  for (std::string word; status >> word;) {
    std::int64_t kilobytes = 0;
    if (word == "VmHWM:" && status >> kilobytes) return kilobytes * 1024;
  }
  return 0;
}

void reset_peak_memory() { std::ofstream("/proc/self/clear_refs") << "5"; }

}  // namespace vitascope::app
