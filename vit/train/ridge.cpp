#include "vit/train/ridge.h"

#include <ATen/ATen.h>
#include <c10/core/GradMode.h>

#include <algorithm>
#include <stdexcept>
#include <utility>
#include <vector>

namespace vitascope::train {
namespace {

/// Rows in float64 at a time, so that a large set is not copied as a whole.
constexpr std::int64_t kRows = 8192;

void require(const LinearSamples& samples, std::span<const double> penalties) {
  const auto& [features, targets, weights] = samples;
  if (features.dim() != 2 || targets.dim() != 2 || features.size(0) != targets.size(0) ||
      features.size(0) == 0 || (weights.defined() && weights.numel() != features.size(0))) {
    throw std::invalid_argument(
        "a linear fit: expected features [n, F], targets [n, K] and weights [n] of the same "
        "samples");
  }
  if (penalties.empty()) throw std::invalid_argument("a ridge fit without a penalty");
  for (const double penalty : penalties) {
    if (!(penalty > 0)) throw std::invalid_argument("the penalty of a ridge fit is not positive");
  }
}

/// A part of the samples, centred.
struct Rows {
  at::Tensor x;        ///< [r, F]
  at::Tensor y;        ///< [r, K]
  at::Tensor weights;  ///< [r]

  at::Tensor weighted_x() const { return x * weights.unsqueeze(1); }
};

/// The samples around their means.
class Centred {
 public:
  explicit Centred(const LinearSamples& samples)
      : samples_(samples), weights_(sample_weights(samples)), total_(weights_.sum()) {
    x_mean_ = mean(samples.features);
    y_mean_ = mean(samples.targets);
  }

  std::int64_t count() const { return weights_.numel(); }
  const at::Tensor& total() const { return total_; }
  const at::Tensor& x_mean() const { return x_mean_; }
  const at::Tensor& y_mean() const { return y_mean_; }

  Rows rows(std::int64_t begin, std::int64_t end) const {
    return {samples_.features.slice(0, begin, end).to(at::kDouble) - x_mean_,
            samples_.targets.slice(0, begin, end).to(at::kDouble) - y_mean_,
            weights_.slice(0, begin, end)};
  }

  template <typename Use>
  void for_parts(const Use& use) const {
    for (std::int64_t begin = 0; begin < count(); begin += kRows) {
      const std::int64_t end = std::min(begin + kRows, count());
      use(begin, end, rows(begin, end));
    }
  }

 private:
  at::Tensor mean(const at::Tensor& values) const {
    at::Tensor sum = at::zeros({values.size(1)}, weights_.options());
    for (std::int64_t begin = 0; begin < count(); begin += kRows) {
      const std::int64_t end = std::min(begin + kRows, count());
      sum += weights_.slice(0, begin, end).matmul(values.slice(0, begin, end).to(at::kDouble));
    }
    return sum / total_;
  }

  LinearSamples samples_;
  at::Tensor weights_, total_, x_mean_, y_mean_;
};

/// The directions in which the samples spread and their squared lengths along them.
struct Axes {
  at::Tensor squares;     ///< [r]
  at::Tensor directions;  ///< [F, r], orthonormal
};

Axes axes_of(const Centred& samples, std::int64_t features) {
  if (features <= samples.count()) {
    at::Tensor gram = at::zeros({features, features}, samples.total().options());
    samples.for_parts([&](std::int64_t, std::int64_t, const Rows& rows) {
      gram.addmm_(rows.weighted_x().t(), rows.x);
    });
    auto [squares, directions] = at::linalg_eigh(gram);
    return {squares.clamp_min(0), directions};
  }
  const Rows rows = samples.rows(0, samples.count());
  const at::Tensor x = rows.x * rows.weights.sqrt().unsqueeze(1);
  const auto [squares, units] = at::linalg_eigh(x.matmul(x.t()));
  // Directions without length are noise of the arithmetic; at least one is: the mean was taken off.
  const at::Tensor kept = (squares > squares.max() * 1e-12).nonzero().flatten();
  if (kept.numel() == 0) {
    return {at::zeros({0}, x.options()), at::zeros({features, 0}, x.options())};
  }
  const at::Tensor lengths = squares.index_select(0, kept);
  return {lengths, x.t().matmul(units.index_select(1, kept)) / lengths.sqrt()};
}

/// [P, r]: how much of a target's part along each axis a penalty lets through, over its length.
at::Tensor shrinkage(const Axes& axes, const at::Tensor& total, std::span<const double> penalties) {
  std::vector<at::Tensor> rows;
  rows.reserve(penalties.size());
  for (const double penalty : penalties) {
    rows.push_back((axes.squares + total * penalty).reciprocal());
  }
  return at::stack(rows);
}

}  // namespace

at::Tensor sample_weights(const LinearSamples& samples) {
  if (samples.weights.defined()) return samples.weights.to(at::kDouble);
  return at::ones({samples.features.size(0)}, samples.features.options().dtype(at::kDouble));
}

RidgeFit fit_ridge(const LinearSamples& samples, std::span<const double> penalties) {
  require(samples, penalties);
  const c10::AutoGradMode no_gradient(false);
  const Centred centred(samples);
  const std::int64_t classes = samples.targets.size(1);
  const Axes axes = axes_of(centred, samples.features.size(1));
  at::Tensor along = at::zeros({axes.squares.numel(), classes}, axes.squares.options());
  centred.for_parts([&](std::int64_t, std::int64_t, const Rows& rows) {
    along += axes.directions.t().matmul(rows.weighted_x().t().matmul(rows.y));
  });
  const at::Tensor factors = shrinkage(axes, centred.total(), penalties);  // [P, r]
  const auto fits = static_cast<std::int64_t>(penalties.size());
  const at::Tensor solutions = factors.unsqueeze(2) * along;  // [P, r, K]

  // [P, n, K]: errors of the samples that were left out.
  at::Tensor errors = at::empty({fits, centred.count(), classes}, along.options());
  centred.for_parts([&](std::int64_t begin, std::int64_t end, const Rows& rows) {
    const at::Tensor parts = rows.x.matmul(axes.directions);  // [rows, r]
    const at::Tensor leverage =
        rows.weights * (1 / centred.total() + factors.matmul(parts.square().t()));  // [P, rows]
    const at::Tensor rest = (1 - leverage).clamp_min(1e-12).unsqueeze(2);
    errors.slice(1, begin, end).copy_((rows.y - at::matmul(parts, solutions)) / rest);
  });
  const at::Tensor sums = (errors.square().sum(2) * sample_weights(samples)).sum(1);  // [P]
  const auto best = sums.argmin().item<std::int64_t>();
  RidgeFit fit;
  fit.penalty = penalties[static_cast<std::size_t>(best)];
  fit.weight = axes.directions.matmul(solutions[best]);
  fit.bias = centred.y_mean() - centred.x_mean().matmul(fit.weight);
  fit.left_out = samples.targets.to(at::kDouble) - errors[best];
  return fit;
}

}  // namespace vitascope::train
