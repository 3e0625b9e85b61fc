#include "vit/metrics/bootstrap.h"

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <vector>

#include "vit/random_numbers.h"

namespace vitascope::metrics {

Interval bootstrap(std::int64_t count, const Statistic& statistic,
                   const BootstrapOptions& options) {
  if (count < 1) throw std::invalid_argument("no values: expected at least one");
  if (options.resamples < 1) throw std::invalid_argument("a bootstrap without resamples");
  if (!(options.level > 0 && options.level < 1)) {
    throw std::invalid_argument("a level of confidence that is not between 0 and 1");
  }
  RandomNumbers random(options.seed);
  std::vector<std::int64_t> indices(static_cast<std::size_t>(count));
  std::vector<double> figures(static_cast<std::size_t>(options.resamples));
  for (double& figure : figures) {
    for (std::int64_t& index : indices) index = random.below(count);
    figure = statistic(indices);
    if (std::isnan(figure)) throw std::invalid_argument("a bootstrap of what is not a number");
  }
  std::ranges::sort(figures);
  const double outside = (1 - options.level) / 2;
  return {quantile(figures, outside), quantile(figures, 1 - outside)};
}

Interval bootstrap_mean(std::span<const double> x, const BootstrapOptions& options) {
  const auto mean = [x](std::span<const std::int64_t> indices) {
    double total = 0;
    for (const std::int64_t index : indices) total += x[static_cast<std::size_t>(index)];
    return total / static_cast<double>(indices.size());
  };
  return bootstrap(std::ssize(x), mean, options);
}

double quantile(std::span<const double> sorted, double share) {
  const double place = share * static_cast<double>(sorted.size() - 1);
  const auto below = static_cast<std::size_t>(place);
  const std::size_t above = std::min(below + 1, sorted.size() - 1);
  return std::lerp(sorted[below], sorted[above], place - static_cast<double>(below));
}

}  // namespace vitascope::metrics
