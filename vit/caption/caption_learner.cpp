#include "vit/caption/caption_learner.h"

#include <ATen/ATen.h>
#include <fmt/format.h>

#include <stdexcept>
#include <utility>

#include "vit/caption/vocabulary.h"
#include "vit/error.h"
#include "vit/json.h"

namespace vitascope::caption {
namespace {

void validate(const CaptionLearning& options) {
  const auto share = [](const char* what, double value) {
    if (!(value >= 0 && value <= 1)) {
      throw UsageError(fmt::format("{} of {}: expected 0 to 1", what, value));
    }
  };
  share("a share of own words", options.own_words);
  share("a share of expectations", options.half_expected);
  if (!(options.dropout >= 0 && options.dropout < 1)) {
    throw UsageError(fmt::format("a dropout of {}: expected 0 or more, below 1", options.dropout));
  }
  if (!(options.focus >= 0)) {
    throw UsageError(fmt::format("a focus of {}: expected 0 or more", options.focus));
  }
  if (!(options.penalty >= 0)) {
    throw UsageError(
        fmt::format("a penalty of {} on attention: expected 0 or more", options.penalty));
  }
}

}  // namespace

at::Tensor attention_entropies(const at::Tensor& weights) {
  // Where a weight is 0 the logarithm is held, so that 0 log 0 is 0 and its gradient a number.
  return -(weights * weights.clamp_min(1e-12).log()).sum(-1);
}

at::Tensor focus_penalty(const at::Tensor& weights, const at::Tensor& live, double lambda) {
  return lambda * (attention_entropies(weights) * live).sum() / weights.size(0);
}

CaptionLearner::CaptionLearner(Decoder decoder, std::int64_t rows, std::int64_t columns,
                               const CaptionLearning& options)
    : options_((validate(options), options)),
      decoder_(std::move(decoder)),
      rows_(rows),
      columns_(columns) {
  for (const auto& [name, slot] : decoder_.parameters()) {
    *slot = slot->detach().to(at::kFloat).clone(at::MemoryFormat::Contiguous).requires_grad_();
    const bool decays = slot->dim() > 1 && name != "embedding.weight";
    parameters_.push_back({.name = name,
                           .tensor = *slot,
                           .rule = {.weight_decay = decays ? options.weight_decay : 0}});
  }
}

at::Tensor CaptionLearner::weights(const train::Batch& batch) const {
  return at::ones({batch.targets.size(0)}, at::kFloat);
}

train::Lesson CaptionLearner::learn(const train::Batch& batch, const train::BatchPart& part,
                                    RandomNumbers& random) {
  if (part.size == 0) return {};
  const at::Device device = parameters_.front().tensor.device();
  const at::Tensor tokens = batch.targets.to(device);
  const at::Tensor targets = tokens.narrow(1, 1, tokens.size(1) - 1);
  const Taught taught = decoder_.teach(tokens.narrow(1, 0, tokens.size(1) - 1),
                                       annotations_of(batch.inputs.to(device)),
                                       {.own_words = options_.own_words,
                                        .dropout = options_.dropout,
                                        .half_expected = options_.half_expected,
                                        .weights = options_.penalty > 0 || options_.focus > 0,
                                        .random = &random});
  const CaptionLosses losses = caption_losses(taught, targets, options_.penalty);
  at::Tensor objective = losses.log_likelihood;
  at::Tensor penalty = losses.penalty;
  if (options_.focus > 0) {
    penalty = penalty + focus_penalty(taught.weights, targets != kPad, options_.focus);
  }
  if (decoder_.config().attention == Attention::hard) {
    objective =
        hard_objective(taught, targets, losses.log_likelihood, baseline_.value, options_.hard);
    baseline_.follow(losses.log_likelihood);
  }
  const at::Tensor right =
      (taught.logits.detach().argmax(-1) == targets).logical_and(targets != kPad).sum();
  return {
      .losses = penalty - objective, .right = right.item<std::int64_t>(), .answers = losses.words};
}

std::string CaptionLearner::state() const { return Json(baseline_.value).dump(); }

void CaptionLearner::restore(const std::string& state) {
  const Json value = Json::parse(state, nullptr, /*allow_exceptions=*/false);
  if (!value.is_number()) throw std::invalid_argument("no baseline of hard attention");
  baseline_.value = value.get<double>();
}

Decoder CaptionLearner::decoder_with(const train::NamedTensors& values) const {
  Decoder changed = decoder_;
  for (const auto& [name, slot] : changed.parameters()) {
    const auto found = values.find(name);
    *slot = (found == values.end() ? *slot : found->second).detach();
  }
  return changed;
}

}  // namespace vitascope::caption
