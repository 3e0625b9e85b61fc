#include "vit/train/loss.h"

#include <ATen/ATen.h>
#include <fmt/format.h>

#include <stdexcept>

namespace vitascope::train {
namespace {

/// x^exponent for x in 0 .. 1, whose slope at 0 is 0 rather than infinite: where x is 0 the loss is
/// at its end, and an infinite slope times a slope of 0 would be no number.
at::Tensor safe_power(const at::Tensor& x, double exponent) {
  if (exponent == 0) return at::ones_like(x);
  return x.clamp_min(1e-30).pow(exponent);
}

at::Tensor weighted(const at::Tensor& terms, const at::Tensor& class_weights) {
  return class_weights.defined() ? terms * class_weights : terms;
}

/// [B, K] terms of the loss, before class weights.
at::Tensor softmax_terms(const at::Tensor& logits, const at::Tensor& targets,
                         const LossOptions& options) {
  const at::Tensor log_p = logits.log_softmax(-1);
  at::Tensor terms = -targets * log_p;
  if (options.kind == LossKind::focal) {
    terms = terms * safe_power(-log_p.expm1(), options.gamma);
  }
  return terms;
}

at::Tensor binary_terms(const at::Tensor& logits, const at::Tensor& targets) {
  return -targets * at::log_sigmoid(logits) - (1 - targets) * at::log_sigmoid(-logits);
}

at::Tensor asymmetric_terms(const at::Tensor& logits, const at::Tensor& targets,
                            const LossOptions& options) {
  const at::Tensor absent = (-logits).sigmoid();
  const at::Tensor positive = safe_power(absent, options.positive_gamma) * at::log_sigmoid(logits);
  // ln (1 - m); without a margin by the form that doesn't overflow.
  const at::Tensor log_rest =
      options.margin > 0 ? (absent + options.margin).clamp_max(1).log() : at::log_sigmoid(-logits);
  const at::Tensor kept = (logits.sigmoid() - options.margin).clamp_min(0);
  const at::Tensor negative = safe_power(kept, options.negative_gamma) * log_rest;
  return -targets * positive - (1 - targets) * negative;
}

void require_shapes(const at::Tensor& logits, const at::Tensor& targets,
                    const at::Tensor& class_weights) {
  if (logits.dim() != 2 || logits.sizes() != targets.sizes()) {
    throw std::invalid_argument("logits and targets of a loss: expected both [samples, classes]");
  }
  if (class_weights.defined() &&
      (class_weights.dim() != 1 || class_weights.size(0) != logits.size(1))) {
    throw std::invalid_argument(fmt::format(
        "class weights of a loss: expected one for each of {} classes", logits.size(1)));
  }
}

}  // namespace

at::Tensor SampleLosses::mean() const { return values.sum() / weights.sum(); }

SampleLosses sample_losses(const at::Tensor& logits, const at::Tensor& targets,
                           const LossOptions& options) {
  require_shapes(logits, targets, options.class_weights);
  const at::ScalarType type = logits.scalar_type() == at::kDouble ? at::kDouble : at::kFloat;
  const at::Tensor z = logits.to(type);
  const at::Tensor sharp = targets.to(z.device(), type);
  const at::Tensor class_weights =
      options.class_weights.defined() ? options.class_weights.to(z.device(), type) : at::Tensor();
  const at::Tensor smoothed =
      sharp * (1 - options.smoothing) + options.smoothing / static_cast<double>(z.size(1));
  const at::Tensor ones = at::ones({z.size(0)}, z.options());
  switch (options.kind) {
    case LossKind::cross_entropy:
      return {weighted(softmax_terms(z, smoothed, options), class_weights).sum(-1),
              class_weights.defined() ? sharp.matmul(class_weights) : ones};
    case LossKind::focal:
      return {weighted(softmax_terms(z, smoothed, options), class_weights).sum(-1), ones};
    case LossKind::binary:
      return {weighted(binary_terms(z, smoothed), class_weights).mean(-1), ones};
    case LossKind::asymmetric:
      return {weighted(asymmetric_terms(z, smoothed, options), class_weights).sum(-1), ones};
  }
  throw std::invalid_argument("a loss of no known kind");
}

at::Tensor targets_of(std::span<const std::vector<std::int64_t>> labels, std::int64_t classes) {
  at::Tensor targets = at::zeros({std::ssize(labels), classes}, at::kFloat);
  float* row = targets.mutable_data_ptr<float>();
  for (const std::vector<std::int64_t>& of_sample : labels) {
    for (const std::int64_t label : of_sample) {
      if (label < 0 || label >= classes) {
        throw std::invalid_argument(
            fmt::format("the label {}: expected 0 to {}", label, classes - 1));
      }
      row[label] = 1;
    }
    row += classes;
  }
  return targets;
}

}  // namespace vitascope::train
