#include "vit/caption/decoder_weights.h"

#include <ATen/ATen.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cmath>
#include <string_view>

#include "vit/error.h"
#include "vit/text.h"
#include "vit/train/initial_weights.h"

namespace vitascope::caption {
namespace {

/// The last part of a name: "weight" of "layers.0.norm1.weight".
std::string_view ending(std::string_view name) {
  const std::size_t dot = name.rfind('.');
  return dot == std::string_view::npos ? name : name.substr(dot + 1);
}

at::Tensor initial_values(const Slot& slot, RandomNumbers& random) {
  const std::string_view last = ending(slot.name);
  const auto outputs = static_cast<double>(slot.shape[0]);
  if (slot.shape.size() == 2) {
    const auto inputs = static_cast<double>(slot.shape[1]);
    const bool words = slot.name == "embedding.weight";
    return train::normal_weights(slot.shape, std::sqrt(words ? 1 / inputs : 2 / (inputs + outputs)),
                                 random);
  }
  // Single vectors that a product is taken with: v, v_a, v_p, v_row, v_col, and the gate's w.
  if (last.starts_with('v') || last == "w") {
    return train::normal_weights(slot.shape, std::sqrt(1 / outputs), random);
  }
  if (last == "weight") return at::ones(slot.shape, at::kFloat);  // of a norm
  at::Tensor bias = at::zeros(slot.shape, at::kFloat);
  if (slot.name == "lstm.bias_ih") bias.chunk(4)[1].fill_(1);
  return bias;
}

}  // namespace

Decoder initial_decoder(const DecoderConfig& config, RandomNumbers& random) {
  Decoder decoder(config);
  for (const Slot& slot : decoder.slots()) *slot.tensor = initial_values(slot, random);
  return decoder;
}

Decoder decoder_of(const DecoderConfig& config, const std::map<std::string, at::Tensor>& tensors,
                   const std::string& path) {
  Decoder decoder(config);
  const Slots slots = decoder.slots();
  std::map<std::string, at::Tensor> left = tensors;
  for (const Slot& slot : slots) {
    const auto found = left.find(slot.name);
    if (found == left.end()) {
      throw InputError(path, fmt::format("'{}' is missing: expected [{}], as the decoder's "
                                         "configuration has it",
                                         slot.name, fmt::join(slot.shape, ", ")));
    }
    if (found->second.sizes() != at::IntArrayRef(slot.shape)) {
      throw InputError(path, fmt::format("'{}' is [{}]: expected [{}], as the decoder's "
                                         "configuration has it",
                                         slot.name, fmt::join(found->second.sizes(), ", "),
                                         fmt::join(slot.shape, ", ")));
    }
    *slot.tensor = found->second;
    left.erase(found);
  }
  if (!left.empty()) {
    throw InputError(path, fmt::format("'{}' belongs to no decoder of this configuration",
                                       printable(left.begin()->first)));
  }
  return decoder;
}

std::map<std::string, at::Tensor> tensors_of(Decoder decoder) {
  std::map<std::string, at::Tensor> tensors;
  for (const auto& [name, tensor] : decoder.parameters()) tensors.emplace(name, *tensor);
  return tensors;
}

}  // namespace vitascope::caption
