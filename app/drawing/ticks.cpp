#include "app/drawing/ticks.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace vitascope::drawing {
namespace {

/// Steps from one to the next: 1, 2, 5, 10, ...
double next_step(double step) {
  const double power = std::pow(10, std::floor(std::log10(step) + 1e-9));
  const double leading = step / power;
  return leading < 1.5 ? 2 * power : leading < 3 ? 5 * power : 10 * power;
}

// First and last multiple of `step` inside the range, forgiving rounding at its ends.
double first_multiple(Range range, double step) { return std::ceil(range.low / step - 1e-9); }
double last_multiple(Range range, double step) { return std::floor(range.high / step + 1e-9); }

}  // namespace

Ticks round_ticks(Range range, int most) {
  const double span = range.high - range.low;
  if (!(span > 0) || !std::isfinite(span)) return {{range.low}, 0};
  const int wanted = std::max(most, 2);
  double step = std::pow(10, std::floor(std::log10(span / wanted)));
  while (last_multiple(range, step) - first_multiple(range, step) + 1 > wanted) {
    step = next_step(step);
  }
  Ticks ticks{{}, step};
  const double last = last_multiple(range, step);
  for (double i = first_multiple(range, step); i <= last; ++i) ticks.values.push_back(i * step);
  return ticks;
}

std::string tick_label(double value, double step) {
  if (step <= 0) return short_number(value);
  if (std::abs(value) < step / 2) return "0";
  const int decimals = std::max(0, -static_cast<int>(std::floor(std::log10(step) + 1e-9)));
  if (decimals > 4 || std::abs(value) >= 1e6) return fmt::format("{:.3g}", value);
  return fmt::format("{:.{}f}", value, decimals);
}

std::string short_number(double value) { return fmt::format("{:.3g}", value); }

}  // namespace vitascope::drawing
