#include "vit/train/class_weights.h"

#include <fmt/format.h>

#include <cmath>
#include <functional>
#include <stdexcept>

#include "vit/error.h"

namespace vitascope::train {
namespace {

/// What `weight` gives for each class that has samples.
std::vector<double> of_present(std::span<const std::int64_t> counts,
                               const std::function<double(double count)>& weight) {
  std::vector<double> weights(counts.size());
  bool any = false;
  for (std::size_t i = 0; i < counts.size(); ++i) {
    if (counts[i] < 0) throw std::invalid_argument("a class with fewer than 0 samples");
    if (counts[i] == 0) continue;
    weights[i] = weight(static_cast<double>(counts[i]));
    any = true;
  }
  if (!any) throw std::invalid_argument("class weights of no samples: expected at least one");
  return weights;
}

}  // namespace

std::vector<double> inverse_class_weights(std::span<const std::int64_t> counts) {
  double samples = 0;
  double present = 0;
  std::vector<double> weights = of_present(counts, [&](double count) {
    samples += count;
    ++present;
    return 1 / count;
  });
  for (double& weight : weights) weight *= samples / present;
  return weights;
}

std::vector<double> effective_number_weights(std::span<const std::int64_t> counts, double beta) {
  if (!(beta >= 0 && beta < 1)) {
    throw UsageError(fmt::format(
        "class weights by effective number: beta is {}: expected 0 or more and below 1", beta));
  }
  double sum = 0;
  double present = 0;
  std::vector<double> weights = of_present(counts, [&](double count) {
    // 1 - beta^n without loss for a beta near 1.
    const double weight = -1 / std::expm1(count * std::log(beta));
    sum += weight;
    ++present;
    return weight;
  });
  for (double& weight : weights) weight *= present / sum;
  return weights;
}

}  // namespace vitascope::train
