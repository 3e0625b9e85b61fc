#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <stdexcept>

#include "vit/error.h"
#include "vit/json_object.h"
#include "vit/model/architectures.h"
#include "vit/text.h"
#include "vit/weights/config_reader.h"
#include "vit/weights/key_map.h"
#include "vit/weights/labels.h"

namespace vitascope::weights {
namespace {

using model::Activation;
using model::Config;
using model::Grid;
using model::Pooling;

using Shape = std::vector<std::int64_t>;

/// Bounds the numbers that are read; model::validate has the real bounds.
constexpr int kMost = 1 << 20;

/// Arguments of timm's constructor that change training, or how it is built, but not the result.
constexpr std::string_view kWithoutEffect[] = {
    "drop_rate",        "pos_drop_rate",   "patch_drop_rate", "proj_drop_rate",
    "attn_drop_rate",   "drop_path_rate",  "weight_init",     "fix_init",
    "dynamic_img_size", "dynamic_img_pad", "strict_img_size"};

/// Arguments that are read below.
constexpr std::string_view kRead[] = {
    "img_size",       "patch_size",  "embed_dim",       "depth",          "num_heads",
    "mlp_ratio",      "num_classes", "in_chans",        "global_pool",    "reg_tokens",
    "no_embed_class", "init_values", "class_token",     "qkv_bias",       "qk_norm",
    "proj_bias",      "pre_norm",    "final_norm",      "fc_norm",        "act_layer",
    "norm_layer",     "pos_embed",   "scale_attn_norm", "scale_mlp_norm", "pool_include_prefix"};

/// A switch of the architecture and the argument that overrides it.
constexpr std::pair<std::string_view, bool Config::*> kSwitches[] = {
    {"class_token", &Config::class_token}, {"qkv_bias", &Config::qkv_bias},
    {"qk_norm", &Config::qk_norm},         {"proj_bias", &Config::projection_bias},
    {"pre_norm", &Config::pre_norm},
};

/// Shapes by timm's names.
class Shapes {
 public:
  Shapes(const StoredTensors& tensors, const std::string& path)
      : tensors_(tensors), names_(canonical_names(tensors, KeyStyle::timm, path)), path_(path) {}

  bool has(const std::string& name) const { return names_.contains(name); }

  /// Null when there is no such tensor.
  /// \throws InputError when it has another number of dimensions, or sizes outside 1 to 2^20
  const Shape* find(const std::string& name, std::size_t dimensions) const {
    const auto found = names_.find(name);
    if (found == names_.end()) return nullptr;
    const Shape& shape = tensors_.tensors.at(found->second).shape;
    const bool possible =
        std::ranges::all_of(shape, [](std::int64_t size) { return size >= 1 && size <= kMost; });
    if (shape.size() == dimensions && possible) return &shape;
    throw InputError(path_,
                     fmt::format("'{}' is {}: expected {} dimensions, each 1 to {}",
                                 printable(found->second), shape_text(shape), dimensions, kMost));
  }

 private:
  const StoredTensors& tensors_;
  std::map<std::string, std::string> names_;
  const std::string& path_;
};

Config known_architecture(const std::string& name, const std::string& path) {
  if (const auto config = model::architecture(name)) return *config;
  const std::string untagged = name.substr(0, name.find('.'));
  const std::string nearest = nearest_name(untagged, model::architecture_names());
  throw InputError(
      path, fmt::format("the architecture '{}' is not known: expected a plain vision transformer "
                        "of timm{}",
                        printable(name),
                        nearest.empty() ? ", such as vit_base_patch16_224"
                                        : fmt::format("; the nearest is '{}'", nearest)));
}

void refuse_what_is_not_built(const JsonObject& arguments) {
  for (const std::string& key : arguments.keys()) {
    const bool known = std::ranges::find(kRead, key) != std::end(kRead) ||
                       std::ranges::find(kWithoutEffect, key) != std::end(kWithoutEffect);
    if (!known) arguments.fail(key, "no such key: this argument of timm is not supported");
  }
  for (const std::string_view key : {"scale_attn_norm", "scale_mlp_norm", "pool_include_prefix"}) {
    if (arguments.boolean(key, false)) arguments.fail(key, "false");
  }
  if (arguments.text("pos_embed", "learn") != "learn") arguments.fail("pos_embed", "\"learn\"");
  if (arguments.text("norm_layer", "layernorm") != "layernorm") {
    arguments.fail("norm_layer", "\"layernorm\"");
  }
}

Activation activation_of(const JsonObject& arguments, Activation fallback) {
  if (!arguments.has("act_layer")) return fallback;
  const std::string name = arguments.text("act_layer");
  if (name == "gelu") return Activation::gelu;
  if (name == "gelu_tanh") return Activation::gelu_tanh;
  if (name == "quick_gelu" || name == "quickgelu") return Activation::quick_gelu;
  if (name == "relu") return Activation::relu;
  if (name == "silu" || name == "swish") return Activation::silu;
  arguments.fail("act_layer", "gelu, gelu_tanh, quick_gelu, relu or silu");
}

Pooling pooling_of(const JsonObject& arguments, const Config& config) {
  if (!arguments.has("global_pool")) return config.pooling;
  const std::string name = arguments.text("global_pool");
  if (name == "avg") return Pooling::mean_patches;
  if (name == "token") {
    return config.distillation_token ? Pooling::first_two : Pooling::class_token;
  }
  arguments.fail("global_pool", "token or avg (other poolings are not supported)");
}

void apply_numbers(Config& config, const JsonObject& arguments, const Shapes& shapes) {
  config.width = arguments.integer("embed_dim", 1, kMost, config.width);
  config.depth = arguments.integer("depth", 1, kMost, config.depth);
  config.heads = arguments.integer("num_heads", 1, kMost, config.heads);
  config.channels = arguments.integer("in_chans", 1, kMost, config.channels);
  const auto [rows, columns] =
      arguments.pair("patch_size", 1, kMost, std::pair{config.patch, config.patch});
  if (rows != columns) arguments.fail("patch_size", "a square");
  config.patch = rows;
  if (arguments.has("mlp_ratio")) {
    const double ratio = arguments.number("mlp_ratio");
    if (!(ratio > 0 && ratio <= 64)) arguments.fail("mlp_ratio", "a number above 0, at most 64");
    const int rows_of_fc1 = static_cast<int>(config.width * ratio);
    config.mlp_width = config.swiglu ? rows_of_fc1 / 2 : rows_of_fc1;
  } else if (const Shape* fc2 = shapes.find("blocks.0.mlp.fc2.weight", 2)) {
    config.mlp_width = static_cast<int>((*fc2)[1]);
  }
  config.activation = activation_of(arguments, config.activation);
  config.registers = arguments.integer("reg_tokens", 0, kMost, config.registers);
  config.pooling = pooling_of(arguments, config);
}

void apply_switches(Config& config, const JsonObject& arguments) {
  for (const auto& [argument, member] : kSwitches) {
    config.*member = arguments.boolean(argument, config.*member);
  }
  if (arguments.has("init_values")) config.layer_scale = arguments.number("init_values") != 0;
  // timm gives the patches no bias where a norm follows them.
  config.patch_bias = !config.pre_norm;
}

/// Whether the last norm comes before or after pooling follows from several arguments of timm and
/// has changed between its versions, so the tensors decide.
void apply_norms(Config& config, const JsonObject& arguments, const Shapes& shapes) {
  const bool norm = shapes.has("norm.weight");
  const bool fc_norm = shapes.has("fc_norm.weight");
  const bool expected =
      arguments.boolean("final_norm", config.final_norm || config.fc_norm) || norm || fc_norm;
  config.fc_norm = fc_norm;
  config.final_norm = norm || (expected && !fc_norm);
}

Grid input_grid(const JsonObject& arguments, const JsonObject& pretrained, const Config& config) {
  std::pair<int, int> size{config.native_grid.rows * config.patch,
                           config.native_grid.columns * config.patch};
  const Json& input = pretrained.value("input_size");
  if (arguments.has("img_size")) {
    size = arguments.pair("img_size", 1, kMost);
  } else if (input.is_array() && input.size() == 3) {
    const auto side = [&](std::size_t i) {
      if (!input[i].is_number_integer() || input[i] < 1 || input[i] > kMost) {
        pretrained.fail("input_size", "[3, height, width]");
      }
      return input[i].get<int>();
    };
    size = {side(1), side(2)};
  }
  if (size.first < config.patch || size.second < config.patch) {
    arguments.fail("img_size", fmt::format("at least the patch size, {}", config.patch));
  }
  const Grid grid{size.first / config.patch, size.second / config.patch};
  constexpr int kMostSide = 4096;
  if (std::max(grid.rows, grid.columns) > kMostSide) {
    arguments.fail("img_size", fmt::format("at most {} patches a side", kMostSide));
  }
  return grid;
}

/// Which grid, and how many prefix tokens, the stored position embeddings are for. Where they are
/// for another input size than the model's, a square grid is taken, as timm does.
void apply_positions(Config& config, const JsonObject& arguments, const Shapes& shapes,
                     std::vector<std::string>& notes) {
  config.position_grid = config.native_grid;
  const int named = int(config.class_token) + int(config.distillation_token);
  std::vector<int> prefixes{config.prefix_tokens(), 0, named};
  if (config.position_prefix == 0) std::swap(prefixes[0], prefixes[1]);
  if (arguments.has("no_embed_class")) {
    prefixes = {arguments.boolean("no_embed_class", false) ? 0 : config.prefix_tokens()};
  }
  config.position_prefix = prefixes.front();
  const Shape* stored = shapes.find("pos_embed", 3);
  if (stored == nullptr) return;
  const int positions = static_cast<int>((*stored)[1]);
  for (const int prefix : prefixes) {
    if (positions - prefix == config.native_grid.count()) {
      config.position_prefix = prefix;
      return;
    }
  }
  for (const int prefix : prefixes) {
    const int side = static_cast<int>(std::lround(std::sqrt(std::max(0, positions - prefix))));
    if (side < 1 || side * side != positions - prefix) continue;
    config.position_prefix = prefix;
    config.position_grid = {side, side};
    notes.push_back(fmt::format("position embeddings of a {0} x {0} grid, for a model of {1} x {2}",
                                side, config.native_grid.rows, config.native_grid.columns));
    return;
  }
}

/// Classes from the head's rows, checked against what the files state.
void apply_head(Config& config, const Shapes& shapes, std::optional<int> stated,
                const std::string& path) {
  const Shape* head = shapes.find("head.weight", 2);
  config.classes = head != nullptr ? static_cast<int>((*head)[0]) : 0;
  config.head_bias = shapes.has("head.bias");
  if (stated && *stated != config.classes) {
    throw InputError(
        path,
        fmt::format("'num_classes' is {}, but the weights have {}: expected the same", *stated,
                    head != nullptr ? fmt::format("a head of {} classes", config.classes)
                                    : std::string("no head.weight")));
  }
  // The mean of two heads needs both; a backbone shows its class token.
  if (config.pooling == Pooling::first_two && head == nullptr) {
    config.pooling = Pooling::class_token;
  }
}

Description describe(const std::string& architecture, const JsonObject& arguments,
                     const JsonObject& pretrained, std::optional<int> classes,
                     const StoredTensors& tensors, const std::string& path) {
  Description description;
  Config& config = description.config = known_architecture(architecture, path);
  const Shapes shapes(tensors, path);
  refuse_what_is_not_built(arguments);
  apply_numbers(config, arguments, shapes);
  apply_switches(config, arguments);
  apply_norms(config, arguments, shapes);
  config.native_grid = input_grid(arguments, pretrained, config);
  apply_positions(config, arguments, shapes, description.notes);
  apply_head(config, shapes, classes, path);
  try {
    model::validate(config);
  } catch (const std::invalid_argument& error) {
    throw InputError(path, error.what());
  }
  const std::string tag = architecture.find('.') == std::string::npos
                              ? pretrained.text("tag", "")
                              : architecture.substr(architecture.find('.') + 1);
  description.imagenet =
      std::ranges::any_of(std::array{"in1k", "in12k", "in21k", "in22k"},
                          [&](const char* name) { return tag.find(name) != std::string::npos; });
  return description;
}

void add_labels(Description& description, const JsonObject& root, const JsonObject& pretrained) {
  const int classes = description.config.classes;
  if (classes == 0) return;
  const auto take = [&](const JsonObject& values, std::string_view key, const char* source) {
    if (!description.labels.empty() || !values.has(key)) return;
    const Json& descriptions = values.has("label_descriptions") ? values.value("label_descriptions")
                                                                : root.value("label_descriptions");
    description.labels = labels_from_timm(values.value(key), descriptions, root.path());
    description.label_source = source;
  };
  take(root, "label_names", "label_names of config.json");
  take(root, "labels", "labels of config.json");
  take(pretrained, "label_names", "label_names of pretrained_cfg in config.json");
  if (description.labels.empty()) {
    description.label_source.clear();
  } else if (description.labels.size() != static_cast<std::size_t>(classes)) {
    throw InputError(root.path(),
                     fmt::format("'label_names' has {} labels, but the head has {} classes: "
                                 "expected one label a class",
                                 description.labels.size(), classes));
  }
}

}  // namespace

Description describe_timm(const Json& config, const std::string& path,
                          const StoredTensors& tensors) {
  const JsonObject root(config, path);
  // Files of timm before 0.8 have the keys of pretrained_cfg at the root.
  const JsonObject pretrained = root.has("pretrained_cfg") ? root.object("pretrained_cfg") : root;
  const JsonObject arguments = root.object("model_args");
  std::optional<int> classes;
  for (const JsonObject* values : {&arguments, &root, &pretrained}) {
    if (!classes && values->has("num_classes")) classes = values->integer("num_classes", 0, kMost);
  }
  if (!root.has("architecture")) {
    root.fail("architecture", "a name of timm, such as vit_base_patch16_224");
  }
  Description description =
      describe(root.text("architecture"), arguments, pretrained, classes, tensors, path);
  add_labels(description, root, pretrained);
  return description;
}

Description describe_architecture(const std::string& architecture, const StoredTensors& tensors,
                                  const std::string& path) {
  const KeyStyle style = detect_key_style(tensors, path);
  if (style != KeyStyle::timm) {
    throw InputError(path, fmt::format("its tensors are named as {} names them; an architecture "
                                       "alone can only describe timm's names: expected a "
                                       "config.json beside it",
                                       key_style_name(style)));
  }
  const Json nothing = Json::object();
  const JsonObject none(nothing, path);
  return describe(architecture, none, none, std::nullopt, tensors, path);
}

}  // namespace vitascope::weights
