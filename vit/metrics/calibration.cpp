#include "vit/metrics/calibration.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <stdexcept>

namespace vitascope::metrics {
namespace {

/// The bin whose stretch (m / bins, (m + 1) / bins] holds p; the product may miss it by one.
std::size_t bin_of(double p, int bins) {
  int bin = std::clamp(static_cast<int>(std::ceil(p * bins)) - 1, 0, bins - 1);
  const auto edge = [bins](int m) { return static_cast<double>(m) / bins; };
  if (bin > 0 && p <= edge(bin)) --bin;
  if (bin + 1 < bins && p > edge(bin + 1)) ++bin;
  return static_cast<std::size_t>(bin);
}

double gap(const ReliabilityBin& bin) { return std::abs(bin.accuracy - bin.confidence); }

/// The mean NLL's first two derivatives by the inverse temperature b: the mean over samples of
/// E[z] - z_label and of Var[z], under softmax(b z).
struct Slopes {
  double first = 0, second = 0;
};

Slopes slopes_at(double inverse, const Scores& logits, Labels labels) {
  Slopes total;
  for (std::int64_t i = 0; i < logits.samples(); ++i) {
    const std::span<const double> row = logits.row(i);
    const double highest = std::ranges::max(row);
    double sum = 0;
    double mean = 0;
    double squares = 0;
    for (const double logit : row) {
      const double distance = logit - highest;
      const double weight = std::exp(inverse * distance);
      sum += weight;
      // Beyond what a double holds, the weight is 0 and the distance may be infinite.
      if (weight == 0) continue;
      mean += weight * distance;
      squares += weight * distance * distance;
    }
    mean /= sum;
    total.first +=
        mean - (row[static_cast<std::size_t>(labels[static_cast<std::size_t>(i)])] - highest);
    total.second += squares / sum - mean * mean;
  }
  const auto count = static_cast<double>(logits.samples());
  return {total.first / count, total.second / count};
}

}  // namespace

std::vector<ReliabilityBin> reliability_bins(const Scores& probabilities, Labels labels, int bins) {
  require_labels(probabilities, labels);
  if (bins < 1) throw std::invalid_argument("reliability without bins: expected at least one");
  std::vector<ReliabilityBin> result(static_cast<std::size_t>(bins));
  for (std::int64_t i = 0; i < probabilities.samples(); ++i) {
    const std::span<const double> row = probabilities.row(i);
    const std::int64_t top = top_class(row);
    const double p = row[static_cast<std::size_t>(top)];
    // Probabilities that were rounded to float32 may add up to a little more than 1.
    if (p < 0 || p > 1 + 1e-6) {
      throw std::invalid_argument(fmt::format("the probability {}: expected 0 to 1", p));
    }
    ReliabilityBin& bin = result[bin_of(p, bins)];
    ++bin.count;
    bin.accuracy += top == labels[static_cast<std::size_t>(i)] ? 1 : 0;
    bin.confidence += p;
  }
  for (ReliabilityBin& bin : result) {
    if (bin.count == 0) continue;
    bin.accuracy /= static_cast<double>(bin.count);
    bin.confidence /= static_cast<double>(bin.count);
  }
  return result;
}

double expected_calibration_error(std::span<const ReliabilityBin> bins) {
  double sum = 0;
  double count = 0;
  for (const ReliabilityBin& bin : bins) {
    sum += static_cast<double>(bin.count) * gap(bin);
    count += static_cast<double>(bin.count);
  }
  if (count == 0) throw std::invalid_argument("calibration of no samples: expected at least one");
  return sum / count;
}

double maximum_calibration_error(std::span<const ReliabilityBin> bins) {
  double largest = 0;
  for (const ReliabilityBin& bin : bins) largest = std::max(largest, gap(bin));
  return largest;
}

double negative_log_likelihood(const Scores& probabilities, Labels labels) {
  require_labels(probabilities, labels);
  double sum = 0;
  for (std::size_t i = 0; i < labels.size(); ++i) {
    sum -= std::log(
        probabilities.row(static_cast<std::int64_t>(i))[static_cast<std::size_t>(labels[i])]);
  }
  return sum / static_cast<double>(labels.size());
}

double brier_score(const Scores& probabilities, Labels labels) {
  require_labels(probabilities, labels);
  double sum = 0;
  for (std::size_t i = 0; i < labels.size(); ++i) {
    const std::span<const double> row = probabilities.row(static_cast<std::int64_t>(i));
    for (std::size_t c = 0; c < row.size(); ++c) {
      const double miss = row[c] - (static_cast<std::int64_t>(c) == labels[i] ? 1 : 0);
      sum += miss * miss;
    }
  }
  return sum / static_cast<double>(labels.size());
}

double fit_temperature(const Scores& logits, Labels labels) {
  require_labels(logits, labels);
  // The NLL is convex in the inverse temperature: Newton's steps, kept within what holds the
  // minimum.
  double low = 0.01;
  double high = 100;
  if (slopes_at(low, logits, labels).first >= 0) return 1 / low;
  if (slopes_at(high, logits, labels).first <= 0) return 1 / high;
  double inverse = 1;
  for (int i = 0; i < 100; ++i) {
    const auto [first, second] = slopes_at(inverse, logits, labels);
    if (first == 0) break;
    (first < 0 ? low : high) = inverse;
    const double next = inverse - first / second;
    if (std::abs(next - inverse) < 1e-13 * inverse) break;
    // A step out of the bracket, or of a curvature of 0, gives way to halving on a log scale.
    inverse = next > low && next < high ? next : std::sqrt(low * high);
  }
  return 1 / inverse;
}

}  // namespace vitascope::metrics
