#include <ATen/ATen.h>
#include <fmt/format.h>

#include <algorithm>

#include "vit/error.h"
#include "vit/weights/key_names.h"
#include "vit/weights/saved_layout.h"

namespace vitascope::weights {
namespace {

using model::Activation;
using model::Config;
using model::Pooling;
using model::PositionInterpolation;
using Tensors = std::map<std::string, at::Tensor>;

[[noreturn]] void fail(const std::string& what) { fail_to_express("transformers", what); }

void require(bool holds, const char* what) {
  if (!holds) fail(what);
}

/// The family that has what this model has, or an error that names what none has.
std::string family_of(const Config& config) {
  require(config.stem.empty(), "a stem of convolutions");
  require(!config.neighbours, "a head of neighbours");
  require(config.class_token, "a model without class token");
  require(!config.qk_norm, "normalised query and key (qk_norm)");
  require(!config.pre_norm, "a norm before the first block (pre_norm)");
  require(config.patch_bias && config.projection_bias, "projections without bias");
  require(config.final_norm && !config.fc_norm, "a norm after pooling (fc_norm)");
  const bool dinov2 = config.layer_scale || config.swiglu || config.registers > 0 ||
                      config.pooling == Pooling::class_and_mean;
  if (config.classes > 0) {
    require(config.pooling != Pooling::mean_patches, "a head over the mean of the patches");
    require(!dinov2 || config.pooling == Pooling::class_and_mean,
            "LayerScale, SwiGLU or registers with a head over the class token alone");
  }
  if (!dinov2) return config.distillation_token ? "deit" : "vit";
  require(!config.distillation_token,
          "a distillation token together with LayerScale, SwiGLU or registers");
  const bool antialias = config.interpolation == PositionInterpolation::bicubic_antialias;
  return config.registers > 0 || (antialias && config.family == "dinov2_with_registers")
             ? "dinov2_with_registers"
             : "dinov2";
}

std::string class_name(const Config& config) {
  const bool head = config.classes > 0;
  if (config.family == "vit") return head ? "ViTForImageClassification" : "ViTModel";
  if (config.family == "deit") {
    if (!head) return "DeiTModel";
    return config.pooling == Pooling::first_two ? "DeiTForImageClassificationWithTeacher"
                                                : "DeiTForImageClassification";
  }
  const std::string name = config.family == "dinov2" ? "Dinov2" : "Dinov2WithRegisters";
  return name + (head ? "ForImageClassification" : "Model");
}

const char* activation_name(Activation activation) {
  switch (activation) {
    case Activation::gelu:
      return "gelu";
    case Activation::gelu_tanh:
      return "gelu_pytorch_tanh";
    case Activation::quick_gelu:
      return "quick_gelu";
    case Activation::relu:
      return "relu";
    case Activation::silu:
      return "silu";
  }
  throw InternalError("activation_name: not an activation");
}

/// DINOv2's configuration has a whole ratio instead of a width.
int mlp_ratio(const Config& config) {
  for (int ratio = 1; ratio <= 64; ++ratio) {
    const int hidden = config.width * ratio;
    const int width = config.swiglu ? (static_cast<int>(hidden * 2.0 / 3.0) + 7) / 8 * 8 : hidden;
    if (width == config.mlp_width) return ratio;
  }
  fail(fmt::format("an MLP of width {} beside a model width of {} in DINOv2, whose ratio is whole",
                   config.mlp_width, config.width));
}

Json size_json(int height, int width) {
  return height == width ? Json(height) : Json{height, width};
}

Json config_json(const Model& model, const Config& config) {
  Json json = {{"model_type", config.family},
               {"architectures", {class_name(config)}},
               {"hidden_size", config.width},
               {"num_hidden_layers", config.depth},
               {"num_attention_heads", config.heads},
               {"num_channels", config.channels},
               {"patch_size", config.patch},
               {"image_size", size_json(config.position_grid.rows * config.patch,
                                        config.position_grid.columns * config.patch)},
               {"hidden_act", config.swiglu ? "gelu" : activation_name(config.activation)},
               {"hidden_dropout_prob", 0.0},
               {"attention_probs_dropout_prob", 0.0},
               {"initializer_range", 0.02},
               {"layer_norm_eps", config.norm_epsilon},
               {"qkv_bias", config.qkv_bias}};
  if (config.family.starts_with("dinov2")) {
    json["mlp_ratio"] = mlp_ratio(config);
    json["use_swiglu_ffn"] = config.swiglu;
    json["layerscale_value"] = 1.0;
    json["drop_path_rate"] = 0.0;
    if (config.family != "dinov2") json["num_register_tokens"] = config.registers;
  } else {
    json["intermediate_size"] = config.mlp_width;
  }
  add_labels(json, model);
  return json;
}

/// What DINOv2 in transformers has and this model does without, in values that change nothing.
void add_neutral_parameters(Tensors& tensors, Config& config) {
  const at::TensorOptions options = tensors.at("pos_embed").options();
  if (config.family.starts_with("dinov2") && !config.layer_scale) {
    for (int i = 0; i < config.depth; ++i) {
      for (const char* name : {"ls1", "ls2"}) {
        tensors[fmt::format("blocks.{}.{}.gamma", i, name)] = at::ones({config.width}, options);
      }
    }
    config.layer_scale = true;
  }
  if (config.classes > 0 && !config.head_bias) {
    tensors["head.bias"] = at::zeros({config.classes}, options);
    if (config.pooling == Pooling::first_two) {
      tensors["head_dist.bias"] = at::zeros({config.classes}, options);
    }
    config.head_bias = true;
  }
}

}  // namespace

Json preprocessor_json(const image::Specification& specification) {
  using image::ResizeMode;
  require(specification.resize != ResizeMode::longest_edge,
          "pictures that are padded to the input size");
  require(specification.resize != ResizeMode::cover,
          "pictures that keep their aspect for an input that is not square");
  const bool shortest_edge = specification.resize == ResizeMode::shortest_edge;
  Json json = {{"do_resize", specification.resize != ResizeMode::none},
               {"resample", static_cast<int>(specification.filter)},
               {"do_rescale", specification.rescale},
               {"rescale_factor", specification.rescale_factor},
               {"do_normalize", specification.normalise},
               {"do_convert_rgb", true}};
  for (std::size_t i = 0; i < 3; ++i) {
    json["image_mean"].push_back(shortest(specification.mean[i]));
    json["image_std"].push_back(shortest(specification.std[i]));
  }
  if (shortest_edge) {
    json["size"] = {{"shortest_edge", specification.edge}};
  } else if (specification.resize == ResizeMode::squash) {
    json["size"] = {{"height", specification.size.height}, {"width", specification.size.width}};
  }
  if (specification.crop) {
    json["crop_size"] = {{"height", specification.crop->height},
                         {"width", specification.crop->width}};
  }
  json["do_center_crop"] = specification.crop.has_value();
  json["image_processor_type"] = shortest_edge        ? "BitImageProcessor"
                                 : specification.crop ? "DeiTImageProcessor"
                                                      : "ViTImageProcessor";
  return json;
}

SavedLayout transformers_layout(const Model& model) {
  Config config = model.network.config();
  Tensors ours = named_parameters(model);
  config.family = family_of(config);
  const auto rule = config.family == "dinov2_with_registers"
                        ? PositionInterpolation::bicubic_antialias
                        : PositionInterpolation::bicubic;
  if (rule != config.interpolation) fix_positions(ours, config);
  name_positions(ours, config);
  add_neutral_parameters(ours, config);

  SavedLayout layout;
  for (const auto& [name, tensor] : ours) {
    const std::vector<std::string> names = transformers_names(name, config);
    if (names.empty()) throw InternalError("transformers_layout: no name for " + name);
    const auto parts = tensor.chunk(static_cast<std::int64_t>(names.size()), 0);
    for (std::size_t i = 0; i < names.size(); ++i) layout.tensors[names[i]] = parts[i];
  }
  if (config.family.starts_with("dinov2")) {
    // A part of pre-training that transformers expects in every such file.
    const std::string prefix = config.classes > 0 ? config.family + "." : "";
    layout.tensors[prefix + "embeddings.mask_token"] =
        at::zeros({1, config.width}, ours.at("pos_embed").options());
  }
  layout.files["config.json"] = config_json(model, config);
  layout.files["config.json"]["torch_dtype"] =
      ours.at("pos_embed").scalar_type() == at::kBFloat16 ? "bfloat16" : "float32";
  if (model.specification) {
    layout.files["preprocessor_config.json"] = preprocessor_json(*model.specification);
  }
  return layout;
}

}  // namespace vitascope::weights
