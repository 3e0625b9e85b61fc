#include "vit/train/linear_head.h"

#include <ATen/ATen.h>
#include <c10/core/GradMode.h>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <numbers>
#include <stdexcept>
#include <utility>

#include "vit/error.h"
#include "vit/metrics/multi_label.h"
#include "vit/random_numbers.h"
#include "vit/train/optimizer.h"
#include "vit/train/schedule.h"

namespace vitascope::train {
namespace {

/// Logits of all candidates in memory at once, at most.
constexpr std::int64_t kLogits = std::int64_t{1} << 24;

bool several_labels(LossKind kind) {
  return kind == LossKind::binary || kind == LossKind::asymmetric;
}

void validate(const LinearHeadOptions& options) {
  const auto require = [](const char* name, const std::vector<double>& values, bool zero) {
    for (const double value : values) {
      if (std::isfinite(value) && (zero ? value >= 0 : value > 0)) continue;
      throw UsageError(fmt::format("a {} of the head is {}: expected {}", name, value,
                                   zero ? "0 or more" : "more than 0"));
    }
    if (values.empty()) throw UsageError(fmt::format("no {} for the head is given", name));
  };
  require("penalty", options.penalties, false);
  require("learning rate", options.rates, false);
  require("weight decay", options.weight_decays, true);
  if (options.steps < 0 || options.batch_size < 1) {
    throw UsageError(
        fmt::format("a head of {} steps of {} samples: expected 0 or more of 1 or more",
                    options.steps, options.batch_size));
  }
}

void require_fit(const LinearSamples& training, const LinearSamples& validation) {
  if (validation.features.dim() != 2 || validation.features.size(0) == 0 ||
      validation.features.size(1) != training.features.size(1) ||
      validation.targets.sizes() !=
          at::IntArrayRef({validation.features.size(0), training.targets.size(1)})) {
    throw std::invalid_argument(
        "validation of a linear head: expected samples, with the features and classes of training");
  }
}

/// What each sample counts in the loss. It depends on targets alone, so any logits give it.
at::Tensor loss_weights(const at::Tensor& targets, const LossOptions& loss) {
  return sample_losses(at::zeros_like(targets), targets, loss).weights;
}

/// Features to mean 0 and standard deviation 1 over the training samples; one that never changes is
/// only moved.
struct Scaler {
  at::Tensor mean;   ///< [F]
  at::Tensor scale;  ///< [F] 1 over the standard deviation

  explicit Scaler(const at::Tensor& features) {
    const auto [variance, centre] = at::var_mean(features, 0, /*correction=*/0);
    mean = centre;
    // What rounding leaves of the variance of a constant is none.
    const at::Tensor rounding = (centre.abs() * 1e-6).square();
    scale = at::where(variance > rounding, variance.rsqrt(), 1.0);
  }

  LinearSamples of(const LinearSamples& samples) const {
    return {(samples.features.to(at::kFloat) - mean) * scale, samples.targets.to(at::kFloat),
            sample_weights(samples).to(at::kFloat)};
  }

  /// The head on features as they came. \param weight [F, K] on scaled ones
  LinearHead unscaled(const at::Tensor& weight, const at::Tensor& bias) const {
    const at::Tensor folded = weight.to(at::kDouble) * scale.to(at::kDouble).unsqueeze(1);
    return {folded.t().to(at::kFloat).contiguous(),
            (bias.to(at::kDouble) - mean.to(at::kDouble).matmul(folded)).to(at::kFloat)};
  }
};

/// The closed form's answers lie around 0 and 1. As logits they are stretched around the middle, as
/// far as makes the loss of samples that were left out smallest.
std::pair<at::Tensor, at::Tensor> as_logits(const RidgeFit& fit, const LinearSamples& samples,
                                            const LossOptions& loss) {
  double best = 1;
  double smallest = std::numeric_limits<double>::infinity();
  for (double stretch = 1; stretch <= 256; stretch *= std::numbers::sqrt2) {
    const auto [values, weights] =
        sample_losses((fit.left_out - 0.5) * stretch, samples.targets, loss);
    const double mean =
        ((values * samples.weights).sum() / (weights * samples.weights).sum()).item<double>();
    if (mean < smallest) {
      smallest = mean;
      best = stretch;
    }
  }
  return {fit.weight * best, (fit.bias - 0.5) * best};
}

/// Heads that are trained side by side: one product gives the logits of all.
class Heads {
 public:
  Heads(const at::Tensor& weight, const at::Tensor& bias, const LinearHeadOptions& options)
      : classes_(bias.numel()) {
    candidates_.push_back({0, 0, 0, 0});
    for (const double rate : options.rates) {
      for (const double decay : options.weight_decays) candidates_.push_back({rate, decay, 0, 0});
    }
    const std::size_t count = candidates_.size();
    weights_.reserve(count);
    biases_.reserve(count);
    for (std::size_t i = 0; i < count; ++i) {
      const bool learns = i > 0;  // the first stays the closed form
      weights_.push_back(weight.to(at::kFloat).clone().requires_grad_(learns));
      biases_.push_back(bias.to(at::kFloat).clone().requires_grad_(learns));
    }
  }

  std::vector<HeadCandidate>& candidates() { return candidates_; }
  const at::Tensor& weight(std::size_t i) const { return weights_[i]; }
  const at::Tensor& bias(std::size_t i) const { return biases_[i]; }
  std::int64_t columns() const { return count() * classes_; }

  /// Of the heads that learn.
  std::vector<Parameter> parameters() const {
    std::vector<Parameter> parameters;
    parameters.reserve(2 * candidates_.size());
    for (std::size_t i = 1; i < candidates_.size(); ++i) {
      const auto& candidate = candidates_[i];
      parameters.push_back(
          {fmt::format("{}.weight", i), weights_[i], {candidate.rate, candidate.weight_decay}});
      parameters.push_back({fmt::format("{}.bias", i), biases_[i], {candidate.rate, 0}});
    }
    return parameters;
  }

  /// \return [samples, heads, K]
  at::Tensor logits(const at::Tensor& features) const {
    return at::addmm(at::cat(biases_), features, at::cat(weights_, 1))
        .view({features.size(0), count(), classes_});
  }

  /// Sums of each head over samples. \return losses and what they are divided by, [heads]
  std::pair<at::Tensor, at::Tensor> losses(const at::Tensor& logits, const LinearSamples& samples,
                                           const LossOptions& loss) const {
    const std::int64_t rows = logits.size(0);
    const at::Tensor targets =
        samples.targets.unsqueeze(1).expand({rows, count(), classes_}).reshape({-1, classes_});
    const auto [values, weights] = sample_losses(logits.reshape({-1, classes_}), targets, loss);
    const auto sums = [&](const at::Tensor& each) {
      return samples.weights.matmul(each.view({rows, count()}));
    };
    return {sums(values), sums(weights)};
  }

 private:
  std::int64_t count() const { return static_cast<std::int64_t>(candidates_.size()); }

  std::int64_t classes_;
  std::vector<HeadCandidate> candidates_;
  std::vector<at::Tensor> weights_;  ///< [F, K] each
  std::vector<at::Tensor> biases_;   ///< [K] each
};

/// Hands `use` the samples in parts whose logits fit into memory.
void for_parts(const LinearSamples& samples, std::int64_t columns,
               const std::function<void(const LinearSamples&)>& use) {
  const std::int64_t rows = std::max<std::int64_t>(1, kLogits / columns);
  const std::int64_t count = samples.features.size(0);
  for (std::int64_t begin = 0; begin < count; begin += rows) {
    const std::int64_t end = std::min(begin + rows, count);
    use({samples.features.slice(0, begin, end), samples.targets.slice(0, begin, end),
         samples.weights.slice(0, begin, end)});
  }
}

/// Batches for ever: all samples, or parts of one random order after the other.
class Batches {
 public:
  Batches(LinearSamples samples, const LinearHeadOptions& options)
      : samples_(std::move(samples)), size_(options.batch_size), random_(options.seed) {}

  LinearSamples next() {
    const std::int64_t count = samples_.features.size(0);
    if (size_ >= count) return samples_;
    if (position_ + size_ > static_cast<std::int64_t>(order_.size())) {
      order_ = random_.permutation(count);
      position_ = 0;
    }
    const at::Tensor chosen =
        at::tensor(at::ArrayRef<std::int64_t>(order_).slice(static_cast<std::size_t>(position_),
                                                            static_cast<std::size_t>(size_)),
                   at::kLong);
    position_ += size_;
    return {samples_.features.index_select(0, chosen), samples_.targets.index_select(0, chosen),
            samples_.weights.index_select(0, chosen)};
  }

 private:
  LinearSamples samples_;
  std::int64_t size_;
  RandomNumbers random_;
  std::vector<std::int64_t> order_;
  std::int64_t position_ = 0;
};

void train(Heads& heads, const LinearSamples& samples, const LinearHeadOptions& options) {
  Optimizer optimizer(heads.parameters(), AdamW{});
  const Schedule schedule{.steps = std::max<std::int64_t>(options.steps, 1), .rate = 1};
  Batches batches(samples, options);
  const c10::AutoGradMode gradient(true);
  for (std::int64_t step = 0; step < options.steps; ++step) {
    const LinearSamples batch = batches.next();
    const at::Tensor total =
        loss_weights(batch.targets, options.loss).matmul(batch.weights).clamp_min(1e-12);
    for_parts(batch, heads.columns(), [&](const LinearSamples& part) {
      const auto [losses, weights] = heads.losses(heads.logits(part.features), part, options.loss);
      // Each head's loss depends on its own weights alone, so the sum trains them all.
      (losses.sum() / total).backward();
    });
    optimizer.step(rate_at(schedule, step));
    optimizer.clear_gradients();
  }
}

void judge(Heads& heads, const LinearSamples& samples, const LossOptions& loss) {
  std::vector<at::Tensor> logits;
  at::Tensor losses = at::zeros({std::ssize(heads.candidates())}, at::kFloat);
  at::Tensor weights = losses.clone();
  for_parts(samples, heads.columns(), [&](const LinearSamples& part) {
    logits.push_back(heads.logits(part.features));
    const auto [loss_sum, weight_sum] = heads.losses(logits.back(), part, loss);
    losses += loss_sum;
    weights += weight_sum;
  });
  const at::Tensor all = at::cat(logits);
  for (std::size_t i = 0; i < heads.candidates().size(); ++i) {
    const auto index = static_cast<std::int64_t>(i);
    HeadCandidate& candidate = heads.candidates()[i];
    candidate.score =
        validation_score(all.select(1, index), samples.targets, several_labels(loss.kind));
    candidate.loss = (losses[index] / weights[index].clamp_min(1e-12)).item<double>();
  }
}

bool better(const HeadCandidate& a, const HeadCandidate& b) {
  if (a.score != b.score) return a.score > b.score;
  return a.loss < b.loss;
}

}  // namespace

double validation_score(const at::Tensor& scores, const at::Tensor& targets, bool several) {
  if (!several) {
    return (scores.argmax(1) == targets.argmax(1)).to(at::kDouble).mean().item<double>();
  }
  const at::Tensor values = scores.to(at::kDouble).contiguous();
  const at::Tensor present = (targets > 0.5).contiguous();
  std::vector<std::vector<std::int64_t>> labels(static_cast<std::size_t>(targets.size(0)));
  const bool* flag = present.const_data_ptr<bool>();
  for (std::vector<std::int64_t>& of_sample : labels) {
    for (std::int64_t k = 0; k < targets.size(1); ++k) {
      if (*flag++) of_sample.push_back(k);
    }
  }
  const metrics::Scores rows(
      {values.const_data_ptr<double>(), static_cast<std::size_t>(values.numel())}, values.size(1));
  return metrics::mean_average_precision(metrics::average_precisions(rows, labels)).value_or(0);
}

at::Tensor LinearHead::logits(const at::Tensor& features) const {
  return at::addmm(bias, features, weight.t());
}

TrainedHead train_linear_head(const LinearSamples& training, const LinearSamples& validation,
                              const LinearHeadOptions& options) {
  validate(options);
  require_fit(training, validation);
  const c10::AutoGradMode no_gradient(false);
  const Scaler scaler(training.features.to(at::kFloat));
  const LinearSamples samples = scaler.of(training);
  // Samples count in the closed form as much as they do in the loss.
  const RidgeFit ridge = fit_ridge({samples.features, samples.targets,
                                    samples.weights * loss_weights(samples.targets, options.loss)},
                                   options.penalties);
  const auto [weight, bias] = as_logits(ridge, samples, options.loss);
  Heads heads(weight, bias, options);
  train(heads, samples, options);
  judge(heads, scaler.of(validation), options.loss);

  TrainedHead result;
  result.penalty = ridge.penalty;
  result.candidates = heads.candidates();
  const auto best = std::min_element(result.candidates.begin(), result.candidates.end(), better);
  result.chosen = static_cast<std::size_t>(best - result.candidates.begin());
  result.head =
      scaler.unscaled(heads.weight(result.chosen).detach(), heads.bias(result.chosen).detach());
  return result;
}

}  // namespace vitascope::train
