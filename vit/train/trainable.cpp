#include "vit/train/trainable.h"

#include <ATen/ATen.h>
#include <fmt/format.h>

#include <map>
#include <stdexcept>

#include "vit/train/initial_weights.h"

namespace vitascope::train {
namespace {

constexpr double kHeadDeviation = 0.01;

/// DeiT distilled has two.
bool in_head(std::string_view name) {
  return name.starts_with("head.") || name.starts_with("head_dist.");
}

}  // namespace

bool learns(std::string_view name, Tuning tuning) {
  if (in_head(name) || name.starts_with("fc_norm.")) return true;
  switch (tuning) {
    case Tuning::full:
      return true;
    case Tuning::head:
      return false;
    case Tuning::bias:
      return name.ends_with(".bias");
    case Tuning::lora:
      return name.ends_with(".lora_a") || name.ends_with(".lora_b");
  }
  return false;
}

std::vector<std::pair<std::string, at::Tensor*>> learnable_slots(
    model::VisionTransformer& network) {
  std::vector<std::pair<std::string, at::Tensor*>> slots = network.parameters();
  for (auto& [name, product] : network.products()) {
    if (!product->down.defined()) continue;
    slots.emplace_back(name + ".lora_a", &product->down);
    slots.emplace_back(name + ".lora_b", &product->up);
  }
  return slots;
}

model::VisionTransformer with_empty_head(const model::VisionTransformer& network,
                                         const NewHead& head) {
  model::Config config = network.config();
  config.classes = head.classes;
  config.multi_label = head.multi_label;
  config.head_bias = head.bias.value_or(config.head_bias);
  config.neighbours = head.neighbours;
  model::VisionTransformer source = network;  // shares the tensors
  std::map<std::string, at::Tensor> given;
  for (const auto& [name, slot] : source.parameters()) given.emplace(name, *slot);
  model::VisionTransformer changed(config);
  for (const auto& [name, slot] : changed.parameters()) {
    if (!in_head(name)) *slot = given.at(name);
  }
  return changed;
}

model::VisionTransformer with_new_head(const model::VisionTransformer& network, const NewHead& head,
                                       RandomNumbers& random) {
  model::VisionTransformer changed = with_empty_head(network, head);
  const std::vector<model::ParameterShape> shapes = model::parameter_shapes(changed.config());
  const auto slots = changed.parameters();
  for (std::size_t i = 0; i < slots.size(); ++i) {
    if (!in_head(slots[i].first)) continue;
    *slots[i].second = shapes[i].shape.size() > 1
                           ? normal_weights(shapes[i].shape, kHeadDeviation, random)
                           : at::zeros(shapes[i].shape, at::kFloat);
  }
  return changed;
}

std::vector<Parameter> make_trainable(model::VisionTransformer& network, Tuning tuning,
                                      const RuleOptions& rules, at::ScalarType precision) {
  std::vector<Parameter> parameters;
  std::vector<model::ParameterShape> shapes;
  for (const auto& [name, slot] : learnable_slots(network)) {
    at::Tensor value = slot->detach().to(precision);
    const bool fixed = name == "pos_embed" && !network.config().learned_positions;
    if (learns(name, tuning) && !fixed) {
      // Opened weights are a mapped file, which can't be written.
      if (value.const_data_ptr() == slot->const_data_ptr()) value = value.clone();
      value = value.contiguous().requires_grad_();
      parameters.push_back({.name = name, .tensor = value});
      shapes.push_back({name, value.sizes().vec()});
    }
    *slot = value;
  }
  const std::vector<ParameterRule> given = parameter_rules(shapes, network.config().depth, rules);
  for (std::size_t i = 0; i < parameters.size(); ++i) parameters[i].rule = given[i];
  return parameters;
}

model::VisionTransformer with_weights(const model::VisionTransformer& network,
                                      const NamedTensors& values) {
  model::VisionTransformer changed = network;
  std::size_t used = 0;
  for (const auto& [name, slot] : learnable_slots(changed)) {
    const auto found = values.find(name);
    if (found == values.end()) continue;
    *slot = found->second.detach().to(slot->options());
    ++used;
  }
  if (used != values.size()) {
    throw std::invalid_argument("with_weights: values for parameters that the network lacks");
  }
  return changed;
}

}  // namespace vitascope::train
