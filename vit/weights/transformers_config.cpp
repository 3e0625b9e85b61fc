#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <stdexcept>

#include "vit/error.h"
#include "vit/json_object.h"
#include "vit/text.h"
#include "vit/weights/config_reader.h"
#include "vit/weights/labels.h"

namespace vitascope::weights {
namespace {

using model::Activation;
using model::Config;
using model::Pooling;
using model::PositionInterpolation;

/// What a model_type implies and config.json does not say.
struct Family {
  std::string_view model_type;
  double norm_epsilon;  ///< where config.json has none
  PositionInterpolation interpolation;
  bool dinov2;  ///< LayerScale, mlp_ratio, a head over class token and mean
};

constexpr Family kFamilies[] = {
    {"vit", 1e-12, PositionInterpolation::bicubic, false},
    {"deit", 1e-12, PositionInterpolation::bicubic, false},
    {"vit_mae", 1e-12, PositionInterpolation::bicubic, false},
    {"dinov2", 1e-6, PositionInterpolation::bicubic, true},
    {"dinov2_with_registers", 1e-6, PositionInterpolation::bicubic_antialias, true},
};

constexpr std::pair<std::string_view, Activation> kActivations[] = {
    {"gelu", Activation::gelu},
    {"gelu_python", Activation::gelu},
    {"gelu_new", Activation::gelu_tanh},
    {"gelu_fast", Activation::gelu_tanh},
    {"gelu_pytorch_tanh", Activation::gelu_tanh},
    {"quick_gelu", Activation::quick_gelu},
    {"relu", Activation::relu},
    {"silu", Activation::silu},
    {"swish", Activation::silu},
};

const Family& family_of(const JsonObject& values) {
  std::vector<std::string> known;
  for (const Family& family : kFamilies) known.emplace_back(family.model_type);
  const std::string expected = fmt::format("one of {}", fmt::join(known, ", "));
  if (!values.has("model_type")) values.fail("model_type", expected);
  const std::string type = values.text("model_type");
  const auto* found = std::ranges::find(kFamilies, type, &Family::model_type);
  if (found == std::end(kFamilies)) values.fail("model_type", expected);
  return *found;
}

Activation activation_of(const JsonObject& values) {
  const std::string name = values.text("hidden_act", "gelu");
  const auto* found =
      std::ranges::find(kActivations, name, &std::pair<std::string_view, Activation>::first);
  if (found != std::end(kActivations)) return found->second;
  std::vector<std::string_view> known;
  for (const auto& [known_name, activation] : kActivations) known.push_back(known_name);
  values.fail("hidden_act", fmt::format("one of {}", fmt::join(known, ", ")));
}

/// The rows of fc1, or of each of SwiGLU's halves, from DINOv2's ratio.
int dinov2_mlp_width(const JsonObject& values, int width, bool swiglu) {
  const double ratio = values.number("mlp_ratio");
  if (!(ratio > 0 && ratio <= 64)) values.fail("mlp_ratio", "a number above 0, at most 64");
  const int hidden = static_cast<int>(width * ratio);
  // SwiGLU has three matrices: two thirds of the width keep the size, rounded up to a multiple
  // of 8.
  return swiglu ? (static_cast<int>(hidden * 2.0 / 3.0) + 7) / 8 * 8 : hidden;
}

model::Grid position_grid(const JsonObject& values, int patch) {
  const auto [height, width] = values.pair("image_size", 1, 1 << 20);
  if (height < patch || width < patch) {
    values.fail("image_size", fmt::format("at least the patch size, {}", patch));
  }
  return {height / patch, width / patch};
}

/// Sizes and switches; nothing of the head.
Config encoder_of(const JsonObject& values, const Family& family) {
  constexpr int kMost = 1 << 20;
  Config config;
  config.family = family.model_type;
  config.width = values.integer("hidden_size", 1, kMost);
  config.depth = values.integer("num_hidden_layers", 1, kMost);
  config.heads = values.integer("num_attention_heads", 1, kMost);
  config.channels = values.integer("num_channels", 1, kMost, 3);
  const auto [rows, columns] = values.pair("patch_size", 1, kMost);
  if (rows != columns) values.fail("patch_size", "a square");
  config.patch = rows;
  config.position_grid = config.native_grid = position_grid(values, config.patch);
  config.interpolation = family.interpolation;
  config.qkv_bias = values.boolean("qkv_bias", true);
  config.activation = activation_of(values);
  config.norm_epsilon = values.number("layer_norm_eps", family.norm_epsilon);
  if (family.dinov2) {
    config.layer_scale = true;
    config.swiglu = values.boolean("use_swiglu_ffn", false);
    config.mlp_width = dinov2_mlp_width(values, config.width, config.swiglu);
    if (config.swiglu) config.activation = Activation::silu;
  } else {
    config.mlp_width = values.integer("intermediate_size", 1, kMost);
  }
  if (family.model_type == "dinov2_with_registers") {
    config.registers = values.integer("num_register_tokens", 0, kMost, 4);
  }
  config.distillation_token = family.model_type == "deit";
  config.position_prefix = config.distillation_token ? 2 : 1;
  return config;
}

const StoredTensor* find(const StoredTensors& tensors, const std::string& name) {
  const auto found = tensors.tensors.find(name);
  return found == tensors.tensors.end() ? nullptr : &found->second;
}

/// Whether `architectures` names a classifier.
bool says_classifier(const JsonObject& values) {
  const Json& names = values.value("architectures");
  if (!names.is_array()) return false;
  return std::ranges::any_of(names, [](const Json& name) {
    return name.is_string() &&
           name.get<std::string>().find("ForImageClassification") != std::string::npos;
  });
}

/// Classes and pooling: which head there is shows in the tensors.
void add_head(Config& config, const JsonObject& values, const Family& family,
              const StoredTensors& tensors) {
  const bool two = find(tensors, "cls_classifier.weight") != nullptr ||
                   find(tensors, "distillation_classifier.weight") != nullptr;
  const std::string name = two ? "cls_classifier.weight" : "classifier.weight";
  const StoredTensor* head = find(tensors, name);
  config.pooling = two             ? Pooling::first_two
                   : family.dinov2 ? Pooling::class_and_mean
                                   : Pooling::class_token;
  if (head == nullptr) {
    if (two || says_classifier(values)) {
      throw InputError(values.path(), fmt::format("'architectures' says a classifier, but the "
                                                  "weights hold no '{}': the file is incomplete",
                                                  name));
    }
    return;
  }
  if (head->shape.size() != 2 || head->shape[0] < 1 || head->shape[0] > 1000000) {
    throw InputError(values.path(), fmt::format("'{}' is {}: expected [classes, features]", name,
                                                shape_text(head->shape)));
  }
  config.classes = static_cast<int>(head->shape[0]);
  config.head_bias = find(tensors, two ? "cls_classifier.bias" : "classifier.bias") != nullptr;
}

bool mentions_imagenet(const JsonObject& values) {
  for (const std::string_view key : {"_name_or_path", "dataset", "dataset_name", "finetuned_on"}) {
    const Json& value = values.value(key);
    if (!value.is_string()) continue;
    const std::string text = lower_case(value.get<std::string>());
    if (text.find("imagenet") != std::string::npos) return true;
  }
  return false;
}

}  // namespace

void add_id2label(Description& description, const JsonObject& values) {
  if (description.config.classes == 0) return;
  const Json& id2label = values.value("id2label");
  if (id2label.is_object() && id2label.size() != std::size_t(description.config.classes)) {
    throw InputError(values.path(),
                     fmt::format("'id2label' names {} classes, but the head has {}: expected one "
                                 "label a class",
                                 id2label.size(), description.config.classes));
  }
  description.labels = labels_from_id2label(id2label, values.path());
  if (!description.labels.empty()) description.label_source = "id2label of config.json";
}

Description describe_transformers(const Json& config, const std::string& path,
                                  const StoredTensors& tensors) {
  const JsonObject values(config, path);
  const Family& family = family_of(values);
  Description description;
  description.config = encoder_of(values, family);
  add_head(description.config, values, family, tensors);
  const std::string problem = values.text("problem_type", "single_label_classification");
  if (problem == "multi_label_classification") {
    description.config.multi_label = true;
  } else if (problem != "single_label_classification") {
    values.fail("problem_type", "single_label_classification or multi_label_classification");
  }
  try {
    model::validate(description.config);
  } catch (const std::invalid_argument& error) {
    throw InputError(path, error.what());
  }
  add_id2label(description, values);
  description.imagenet = mentions_imagenet(values);
  return description;
}

}  // namespace vitascope::weights
