#include "vit/caption/decoder.h"

#include <ATen/ATen.h>
#include <ATen/core/grad_mode.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <stdexcept>

namespace vitascope::caption {
namespace {

/// Annotations as the networks read them.
/// \throws std::invalid_argument: a mistake of whoever joins an encoder with a decoder
Annotations prepared(const Annotations& annotations, const DecoderConfig& config) {
  const at::Tensor& values = annotations.values;
  const std::int64_t width =
      config.alignment.annotation_width - (config.coordinates ? kCoordinates : 0);
  const bool fits = values.dim() == 3 && values.size(2) == width &&
                    values.size(1) == annotations.rows * annotations.columns;
  if (!fits) {
    throw std::invalid_argument(
        fmt::format("annotations of shape [{}] on a grid of {} x {}: expected [B, {}, {}]",
                    fmt::join(values.sizes(), ", "), annotations.rows, annotations.columns,
                    annotations.rows * annotations.columns, width));
  }
  return config.coordinates ? with_coordinates(annotations) : annotations;
}

}  // namespace

Decoder::Decoder(const DecoderConfig& config) : config_(completed(config)) {
  if (config_.kind == DecoderKind::lstm) {
    network_ = LstmDecoder(config_);
  } else {
    network_ = TransformerDecoder(config_);
  }
}

Slots Decoder::slots() {
  Slots slots;
  std::visit([&](auto& network) { network.list(slots); }, network_);
  return slots;
}

std::vector<std::pair<std::string, at::Tensor*>> Decoder::parameters() {
  std::vector<std::pair<std::string, at::Tensor*>> result;
  const Slots all = slots();
  result.reserve(all.size());
  for (const Slot& slot : all) result.emplace_back(slot.name, slot.tensor);
  return result;
}

void Decoder::pack() {
  const at::NoGradGuard guard;
  std::visit([](auto& network) { network.pack(); }, network_);
}

Taught Decoder::teach(const at::Tensor& tokens, const Annotations& annotations,
                      const TeachOptions& options) const {
  const Annotations seen = prepared(annotations, config_);
  return std::visit([&](const auto& network) { return network.teach(tokens, seen, options); },
                    network_);
}

DecoderState Decoder::start(const Annotations& annotations) const {
  const Annotations seen = prepared(annotations, config_);
  return std::visit([&](const auto& network) { return network.start(seen); }, network_);
}

NextWord Decoder::step(at::IntArrayRef tokens, DecoderState& state, RandomNumbers* random) const {
  if (static_cast<std::int64_t>(tokens.size()) != state.rows.count()) {
    throw std::invalid_argument(fmt::format("{} tokens for {} rows: expected one a row",
                                            tokens.size(), state.rows.count()));
  }
  const at::Tensor ids = at::tensor(tokens, at::kLong).to(state.photos.front().keys.device());
  NextWord next;
  if (const auto* lstm = std::get_if<LstmDecoder>(&network_)) {
    const LstmStep step = lstm->advance(lstm->embed(ids), state, {.random = random});
    state.hidden = step.hidden;
    state.cell = step.cell;
    state.features = step.features;
    next = {lstm->logits(step.features), step.weights, step.place};
  } else {
    const auto& transformer = std::get<TransformerDecoder>(network_);
    const auto said = transformer.advance(ids, state);
    next = {transformer.logits(said.features.squeeze(1)), said.weights.squeeze(1)};
  }
  ++state.step;
  return next;
}

}  // namespace vitascope::caption
