#include "vit/explain/statistics.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <stdexcept>

#include "vit/metrics/bootstrap.h"

namespace vitascope::explain {
namespace {

void require_values(Values x) {
  if (x.empty()) throw std::invalid_argument("no values: expected at least one");
}

void require_pairs(Values a, Values b) {
  require_values(a);
  if (a.size() != b.size()) {
    throw std::invalid_argument("the sides have " + std::to_string(a.size()) + " and " +
                                std::to_string(b.size()) + " values: expected as many");
  }
}

double sum(Values x) {
  double total = 0;
  for (const double value : x) total += value;
  return total;
}

std::vector<double> sorted(Values x) {
  std::vector<double> values(x.begin(), x.end());
  std::ranges::sort(values);
  return values;
}

/// p ln(p / m), and 0 for p = 0.
double divergence_term(double p, double m) { return p > 0 ? p * std::log(p / m) : 0; }

int sign(double x) { return (x > 0) - (x < 0); }

/// Ranks from 0, tied values sharing the mean of theirs.
std::vector<double> ranks(Values x) {
  const std::vector<double> order = sorted(x);
  std::vector<double> result;
  result.reserve(x.size());
  for (const double value : x) {
    const auto [first, last] = std::equal_range(order.begin(), order.end(), value);
    result.push_back(static_cast<double>((first - order.begin()) + (last - order.begin()) - 1) / 2);
  }
  return result;
}

}  // namespace

double jensen_shannon_divergence(Values p, Values q) {
  require_pairs(p, q);
  double total = 0;
  for (std::size_t i = 0; i < p.size(); ++i) {
    const double middle = (p[i] + q[i]) / 2;
    total += divergence_term(p[i], middle) + divergence_term(q[i], middle);
  }
  return total / 2;
}

double total_variation_distance(Values p, Values q) {
  require_pairs(p, q);
  double total = 0;
  for (std::size_t i = 0; i < p.size(); ++i) total += std::abs(p[i] - q[i]);
  return total / 2;
}

std::optional<double> kendall_tau(Values a, Values b) {
  require_pairs(a, b);
  std::int64_t concordance = 0;
  std::int64_t untied_a = 0;
  std::int64_t untied_b = 0;
  for (std::size_t i = 1; i < a.size(); ++i) {
    for (std::size_t j = 0; j < i; ++j) {
      const int in_a = sign(a[i] - a[j]);
      const int in_b = sign(b[i] - b[j]);
      concordance += in_a * in_b;
      untied_a += in_a != 0;
      untied_b += in_b != 0;
    }
  }
  if (untied_a == 0 || untied_b == 0) return std::nullopt;
  return static_cast<double>(concordance) /
         std::sqrt(static_cast<double>(untied_a) * static_cast<double>(untied_b));
}

std::optional<double> pearson_correlation(Values a, Values b) {
  require_pairs(a, b);
  // Asked of the values: the mean of equal ones may miss them by a rounding.
  const auto constant = [](Values x) { return std::ranges::min(x) == std::ranges::max(x); };
  if (constant(a) || constant(b)) return std::nullopt;
  const double mean_a = mean(a);
  const double mean_b = mean(b);
  double ab = 0;
  double aa = 0;
  double bb = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    ab += (a[i] - mean_a) * (b[i] - mean_b);
    aa += (a[i] - mean_a) * (a[i] - mean_a);
    bb += (b[i] - mean_b) * (b[i] - mean_b);
  }
  return ab / std::sqrt(aa * bb);
}

std::optional<double> spearman_correlation(Values a, Values b) {
  require_pairs(a, b);
  return pearson_correlation(ranks(a), ranks(b));
}

std::optional<double> gini(Values x) {
  require_values(x);
  const double total = sum(x);
  if (total == 0) return std::nullopt;
  const double count = static_cast<double>(x.size());
  double weighted = 0;
  double place = 1 - count;  // 2 i - n - 1 for i = 1
  for (const double value : sorted(x)) {
    weighted += place * value;
    place += 2;
  }
  return weighted / (count * total);
}

std::optional<double> entropy(Values x) {
  require_values(x);
  const double total = sum(x);
  if (total == 0) return std::nullopt;
  double result = 0;
  for (const double value : x) result -= divergence_term(value / total, 1);
  return result;
}

std::optional<double> normalised_entropy(Values x) {
  const std::optional<double> nats = entropy(x);
  if (!nats || x.size() == 1) return nats;
  return *nats / std::log(static_cast<double>(x.size()));
}

std::vector<double> min_max(Values x) {
  require_values(x);
  const auto [low, high] = std::ranges::minmax(x);
  std::vector<double> result(x.size());
  if (low == high) return result;
  std::ranges::transform(x, result.begin(), [low = low, range = high - low](double value) {
    return (value - low) / range;
  });
  return result;
}

double median(Values x) {
  require_values(x);
  return metrics::quantile(sorted(x), 0.5);
}

double mean(Values x) {
  require_values(x);
  return sum(x) / static_cast<double>(x.size());
}

}  // namespace vitascope::explain
