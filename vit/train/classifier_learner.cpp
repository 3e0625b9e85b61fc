#include "vit/train/classifier_learner.h"

#include <ATen/ATen.h>
#include <fmt/format.h>

#include <utility>

#include "vit/error.h"
#include "vit/train/drop_path.h"

namespace vitascope::train {
namespace {

void validate(const ClassifierLearning& options) {
  if (options.precision != at::kFloat && options.precision != at::kBFloat16) {
    throw UsageError("training is done in fp32 or bf16");
  }
  if (options.dropout < 0 || options.dropout >= 1) {
    throw UsageError(fmt::format("a dropout of {}: expected 0 or more, below 1", options.dropout));
  }
  train::validate(options.mix);
}

/// [depth, 2, B]: who keeps which branch. Drawn for all processes, of which each has a part.
at::Tensor branch_scales(const std::vector<double>& rates, const BatchPart& part,
                         RandomNumbers& random) {
  std::vector<at::Tensor> scales;
  scales.reserve(2 * rates.size());
  for (const double rate : rates) {
    for (int branch = 0; branch < 2; ++branch) {
      scales.push_back(drop_path_scales(part.total, rate, random));
    }
  }
  return at::stack(scales)
      .view({std::ssize(rates), 2, part.total})
      .narrow(2, part.begin, part.size)
      .contiguous();
}

/// [B, F]: which features the head reads (dropout: Srivastava et al. 2014).
at::Tensor feature_scales(std::int64_t width, double rate, const BatchPart& part,
                          RandomNumbers& random) {
  return drop_path_scales(part.total * width, rate, random)
      .view({part.total, width})
      .narrow(0, part.begin, part.size);
}

}  // namespace

ClassifierLearner::ClassifierLearner(model::VisionTransformer network,
                                     const ClassifierLearning& options)
    : options_((validate(options), options)),
      network_(std::move(network)),
      parameters_(make_trainable(network_, options.tuning, options.rules, options.precision)) {
  if (options_.drop_path > 0) {
    drop_path_rates_ = drop_path_rates(network_.config().depth, options_.drop_path);
  }
}

void ClassifierLearner::prepare(Batch& batch, RandomNumbers& random) const {
  const Mix mix = draw_mix(options_.mix, batch.inputs.size(2), batch.inputs.size(3), random);
  batch.inputs = mix_pixels(batch.inputs, mix);
  batch.targets = mix_targets(batch.targets, mix);
}

at::Tensor ClassifierLearner::weights(const Batch& batch) const {
  return sample_losses(at::zeros_like(batch.targets), batch.targets, options_.loss).weights;
}

Lesson ClassifierLearner::learn(const Batch& batch, const BatchPart& part, RandomNumbers& random) {
  model::ForwardOptions forward{.backend = options_.backend};
  forward.training.recompute = options_.recompute;
  if (!drop_path_rates_.empty()) {
    forward.training.branch_scales = branch_scales(drop_path_rates_, part, random);
  }
  if (options_.dropout > 0) {
    const std::int64_t width = network_.config().feature_width();
    forward.training.feature_scales = feature_scales(width, options_.dropout, part, random);
  }
  if (part.size == 0) return {};
  const at::Device device = parameters_.front().tensor.device();
  const at::Tensor logits = network_.forward(batch.inputs.to(device), forward).logits;
  const at::Tensor right = logits.detach().argmax(1).cpu() == batch.targets.argmax(1).cpu();
  return {.losses = sample_losses(logits, batch.targets, options_.loss).values,
          .right = right.sum().item<std::int64_t>(),
          .answers = part.size};
}

Batch ClassifierLearner::blank_batch(at::IntArrayRef pixels) const {
  const std::int64_t classes = network_.config().classes;
  return {.inputs = at::zeros(pixels),
          .targets = at::full({pixels[0], classes}, 1.0 / static_cast<double>(classes))};
}

}  // namespace vitascope::train
