#include "vit/caption/selection.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <limits>

namespace vitascope::caption {
namespace {

/// The logarithm of what may be 0, whose gradient stays finite.
at::Tensor safe_log(const at::Tensor& probabilities) {
  return probabilities.clamp_min(std::numeric_limits<float>::min()).log();
}

}  // namespace

at::Tensor draw(const at::Tensor& probabilities, RandomNumbers& random) {
  const at::Tensor sums = probabilities.detach().to(at::kCPU, at::kDouble).cumsum(1).contiguous();
  const std::int64_t rows = sums.size(0), count = sums.size(1);
  at::Tensor drawn = at::zeros({rows}, at::kLong);
  const auto* sum = sums.const_data_ptr<double>();
  auto* place = drawn.mutable_data_ptr<std::int64_t>();
  for (std::int64_t row = 0; row < rows; ++row, sum += count) {
    const double level = random.uniform() * sum[count - 1];
    // The first whose sum is above: one of probability 0 is never it.
    const std::int64_t found = std::upper_bound(sum, sum + count, level) - sum;
    place[row] = found < count ? found : 0;
  }
  return drawn.to(probabilities.device());
}

at::Tensor lots(std::int64_t count, double probability, RandomNumbers& random) {
  at::Tensor drawn = at::empty({count}, at::kBool);
  auto* lot = drawn.mutable_data_ptr<bool>();
  for (std::int64_t i = 0; i < count; ++i) lot[i] = random.uniform() < probability;
  return drawn;
}

Chosen choose(const at::Tensor& weights, const at::Tensor& values, const Choice& choice) {
  const at::Tensor sums = weights.sum(-1, true);
  const at::Tensor unseen = sums == 0;  // a row that sees nothing
  const at::Tensor p = weights / sums.masked_fill(unseen, 1);
  const at::Tensor rows = p.flatten(0, 1);  // [R, L]
  at::Tensor places = choice.places;
  if (!places.defined()) {
    places = choice.random != nullptr ? draw(rows, *choice.random) : rows.argmax(1);
  }
  const at::Tensor index = places.view({weights.size(0), weights.size(1), 1});
  Chosen chosen;
  chosen.place = places;
  chosen.context = values.take_along_dim(index, 1).masked_fill(unseen, 0).flatten(0, 1);
  chosen.log_place = safe_log(rows.gather(1, places.unsqueeze(1))).squeeze(1);
  chosen.entropy = -(rows * safe_log(rows)).sum(1);
  if (choice.expected.defined()) {
    const at::Tensor mean = at::bmm(weights, values).flatten(0, 1);
    chosen.context = at::where(choice.expected.unsqueeze(1), mean, chosen.context);
    chosen.log_place = chosen.log_place.masked_fill(choice.expected, 0);
  }
  return chosen;
}

}  // namespace vitascope::caption
