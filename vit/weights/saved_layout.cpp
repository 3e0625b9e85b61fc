#include "vit/weights/saved_layout.h"

#include <ATen/ATen.h>
#include <fmt/format.h>

#include <cstdlib>

#include "vit/error.h"

namespace vitascope::weights {

SavedLayout saved_layout(const Model& model, Layout layout) {
  switch (layout) {
    case Layout::transformers:
      return transformers_layout(model);
    case Layout::timm:
      return timm_layout(model);
    case Layout::vitascope:
      return vitascope_layout(model);
  }
  throw InternalError("saved_layout: not a layout");
}

void add_labels(Json& config, const Model& model) {
  const model::Config& network = model.network.config();
  if (network.classes == 0) return;
  const bool named = has_label_names(model);
  for (int i = 0; i < network.classes; ++i) {
    const std::string label =
        named ? model.labels[static_cast<std::size_t>(i)] : fmt::format("LABEL_{}", i);
    config["id2label"][std::to_string(i)] = label;
    config["label2id"][label] = i;
  }
  if (network.multi_label) config["problem_type"] = "multi_label_classification";
}

std::map<std::string, at::Tensor> named_parameters(const Model& model) {
  model::VisionTransformer network = model.network;  // shares the tensors
  std::map<std::string, at::Tensor> tensors;
  for (const auto& [name, slot] : network.parameters()) {
    tensors[name] = slot->to(at::kCPU).contiguous();
  }
  return tensors;
}

void fix_positions(std::map<std::string, at::Tensor>& tensors, model::Config& config) {
  if (config.position_grid == config.native_grid) return;
  at::Tensor& positions = tensors.at("pos_embed");
  positions = model::interpolate_positions(positions, config.position_prefix, config.position_grid,
                                           config.native_grid, config.interpolation)
                  .contiguous();
  config.position_grid = config.native_grid;
}

void name_positions(std::map<std::string, at::Tensor>& tensors, model::Config& config) {
  const int named = int(config.class_token) + int(config.distillation_token);
  at::Tensor& positions = tensors.at("pos_embed");
  if (config.position_prefix < named) {
    const at::Tensor zeros = at::zeros({1, named, config.width}, positions.options());
    positions = at::cat({zeros, positions}, 1);
  } else if (config.position_prefix > named) {
    at::Tensor& registers = tensors.at("reg_token");
    registers = registers + positions.slice(1, named, config.position_prefix);
    positions =
        at::cat({positions.slice(1, 0, named), positions.slice(1, config.position_prefix)}, 1);
  }
  config.position_prefix = named;
}

bool has_label_names(const Model& model) {
  for (std::size_t i = 0; i < model.labels.size(); ++i) {
    if (model.labels[i] != std::to_string(i)) return true;
  }
  return false;
}

double shortest(float value) { return std::strtod(fmt::format("{}", value).c_str(), nullptr); }

void fail_to_express(const std::string& library, const std::string& what) {
  throw UsageError(
      fmt::format("the layout of {} can't express {}: choose another --layout", library, what));
}

}  // namespace vitascope::weights
