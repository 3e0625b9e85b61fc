#include <ATen/ATen.h>
#include <fmt/format.h>

#include <cmath>

#include "vit/error.h"
#include "vit/model/architectures.h"
#include "vit/weights/saved_layout.h"

namespace vitascope::weights {
namespace {

using model::Activation;
using model::Config;
using model::Pooling;
using Tensors = std::map<std::string, at::Tensor>;

[[noreturn]] void fail(const std::string& what) { fail_to_express("timm", what); }

void require(bool holds, const char* what) {
  if (!holds) fail(what);
}

/// An architecture that has in common with the model what no argument of timm can change: two
/// heads, SwiGLU and the epsilon of its norms.
Config nearest_base(const Config& config) {
  const auto fits = [&](const Config& base) {
    const double epsilon = std::max(config.norm_epsilon, 1e-6);
    return base.distillation_token == config.distillation_token && base.swiglu == config.swiglu &&
           base.norm_epsilon == epsilon;
  };
  const std::string own = config.family;
  for (const std::string& name :
       {own, std::string("vit_base_patch16_224"), std::string("deit_base_distilled_patch16_224"),
        std::string("vit_giant_patch14_dinov2"), std::string("vit_base_patch16_clip_224")}) {
    const auto base = model::architecture(name);
    if (base && fits(*base)) return *base;
  }
  if (config.norm_epsilon > 1e-6) {
    fail(fmt::format("an epsilon of {} in the layer normalisation of such a model",
                     config.norm_epsilon));
  }
  fail("a distillation token together with SwiGLU");
}

void check(const Config& config) {
  require(config.stem.empty(), "a stem of convolutions");
  require(!config.neighbours, "a head of neighbours");
  require(config.pooling != Pooling::class_and_mean || config.classes == 0,
          "a head over class token and mean side by side (DINOv2 of transformers)");
  require(!config.distillation_token || config.pooling == Pooling::first_two || config.classes == 0,
          "a distillation token without its own head");
  require(config.patch_bias == !config.pre_norm, "a bias of the patches beside a norm after them");
}

const char* activation_name(Activation activation) {
  switch (activation) {
    case Activation::gelu:
      return "gelu";
    case Activation::gelu_tanh:
      return "gelu_tanh";
    case Activation::quick_gelu:
      return "quick_gelu";
    case Activation::relu:
      return "relu";
    case Activation::silu:
      return "silu";
  }
  throw InternalError("activation_name: not an activation");
}

/// The ratio from which timm computes exactly this width: int(width * ratio).
double mlp_ratio(const Config& config) {
  const int rows = config.mlp_width * (config.swiglu ? 2 : 1);
  double ratio = static_cast<double>(rows) / config.width;
  while (static_cast<int>(config.width * ratio) < rows) ratio = std::nextafter(ratio, 1e9);
  return ratio;
}

/// Arguments of timm's constructor: sizes always, switches where the architecture has others.
Json arguments_json(const Config& config, const Config& base) {
  Json json = {
      {"img_size",
       {config.native_grid.rows * config.patch, config.native_grid.columns * config.patch}},
      {"patch_size", config.patch},
      {"embed_dim", config.width},
      {"depth", config.depth},
      {"num_heads", config.heads},
      {"mlp_ratio", mlp_ratio(config)},
      {"num_classes", config.classes},
      {"in_chans", config.channels},
      {"global_pool", config.pooling == Pooling::mean_patches ? "avg" : "token"}};
  const auto change = [&](const char* key, const auto& value, const auto& usual) {
    if (value != usual) json[key] = value;
  };
  change("class_token", config.class_token, base.class_token);
  change("reg_tokens", config.registers, base.registers);
  change("qkv_bias", config.qkv_bias, base.qkv_bias);
  change("qk_norm", config.qk_norm, base.qk_norm);
  change("proj_bias", config.projection_bias, base.projection_bias);
  change("pre_norm", config.pre_norm, base.pre_norm);
  // timm leaves out arguments that are null; zero switches LayerScale off as well.
  change("init_values", config.layer_scale ? 1e-5 : 0.0, base.layer_scale ? 1e-5 : 0.0);
  if (config.prefix_tokens() > 0 || base.prefix_tokens() > 0) {
    json["no_embed_class"] = config.position_prefix == 0;
  }
  json["fc_norm"] = config.fc_norm;
  json["final_norm"] = config.final_norm || config.fc_norm;
  if (!config.swiglu && config.activation != base.activation) {
    json["act_layer"] = activation_name(config.activation);
  }
  return json;
}

/// crop_pct such that timm's floor(size / crop_pct) is the edge.
double crop_fraction(int size, int edge) {
  double fraction = static_cast<double>(size) / edge;
  while (static_cast<int>(std::floor(size / fraction)) < edge) {
    fraction = std::nextafter(fraction, 0.0);
  }
  return fraction;
}

void add_specification(Json& json, const image::Specification& specification) {
  using image::ResizeMode;
  require(specification.resize != ResizeMode::none, "pictures that are not resized");
  require(specification.rescale && std::abs(specification.rescale_factor * 255 - 1) < 1e-9,
          "another scale of pixels than 1/255");
  const auto input = image::output_size(specification);
  require(input.has_value(), "an input size that depends on the picture");
  json["input_size"] = {3, input->height, input->width};
  json["interpolation"] = image::filter_name(specification.filter);
  const bool edge = specification.resize == ResizeMode::shortest_edge;
  if (specification.resize == ResizeMode::longest_edge) {
    json["crop_mode"] = "border";
  } else {
    json["crop_mode"] = edge || specification.resize == ResizeMode::cover ? "center" : "squash";
  }
  json["crop_pct"] =
      crop_fraction(input->height, edge ? specification.edge : specification.size.height);
  for (std::size_t i = 0; i < 3; ++i) {
    json["mean"].push_back(specification.normalise ? shortest(specification.mean[i]) : 0.0);
    json["std"].push_back(specification.normalise ? shortest(specification.std[i]) : 1.0);
  }
}

/// timm gives position embeddings to every prefix token or to none. Moves those of the class token
/// into it where only it has one; adds zeros where a distilled model has none.
void fit_positions(Tensors& tensors, Config& config) {
  if (config.position_prefix == 0 && config.distillation_token) name_positions(tensors, config);
  if (config.position_prefix == 0 || config.position_prefix == config.prefix_tokens()) return;
  at::Tensor& positions = tensors.at("pos_embed");
  tensors.at("cls_token") = tensors.at("cls_token") + positions.slice(1, 0, 1);
  positions = positions.slice(1, config.position_prefix).contiguous();
  config.position_prefix = 0;
}

}  // namespace

SavedLayout timm_layout(const Model& model) {
  Config config = model.network.config();
  check(config);
  const Config base = nearest_base(config);
  SavedLayout layout;
  layout.tensors = named_parameters(model);
  fix_positions(layout.tensors, config);
  fit_positions(layout.tensors, config);
  if (config.classes > 0 && !config.head_bias) {
    const auto options = layout.tensors.at("head.weight").options();
    layout.tensors["head.bias"] = at::zeros({config.classes}, options);
    if (config.pooling == Pooling::first_two) {
      layout.tensors["head_dist.bias"] = at::zeros({config.classes}, options);
    }
  }

  Json pretrained = {{"num_classes", config.classes},
                     {"fixed_input_size", true},
                     {"first_conv", "patch_embed.proj"},
                     {"classifier", "head"}};
  if (config.distillation_token) pretrained["classifier"] = {"head", "head_dist"};
  if (model.specification) {
    add_specification(pretrained, *model.specification);
  } else {
    pretrained["input_size"] = {3, config.native_grid.rows * config.patch,
                                config.native_grid.columns * config.patch};
  }
  Json json = {{"architecture", base.family},
               {"num_classes", config.classes},
               {"num_features", config.width},
               {"global_pool", config.pooling == Pooling::mean_patches ? "avg" : "token"},
               {"model_args", arguments_json(config, base)},
               {"pretrained_cfg", pretrained}};
  if (has_label_names(model)) json["label_names"] = model.labels;
  layout.files["config.json"] = json;
  return layout;
}

}  // namespace vitascope::weights
