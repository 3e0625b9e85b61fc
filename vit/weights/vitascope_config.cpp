#include <algorithm>
#include <stdexcept>
#include <string_view>

#include "vit/error.h"
#include "vit/json_object.h"
#include "vit/weights/config_reader.h"
#include "vit/weights/labels.h"

namespace vitascope::weights {
namespace {

using model::Config;
using model::Pooling;

/// Bounds the numbers that are read; model::validate has the real bounds.
constexpr int kMost = 1 << 20;

/// A key that is not here would be a part that we don't build.
constexpr std::string_view kKeys[] = {
    "model_type",      "hidden_size",    "num_hidden_layers", "num_attention_heads",
    "num_labels",      "patch_size",     "intermediate_size", "image_size",
    "stem_channels",   "layer_norm_eps", "class_token",       "pooling",
    "train_positions", "id2label",       "label2id",          "problem_type"};

std::vector<int> stem_of(const JsonObject& values) {
  const Json& list = values.value("stem_channels");
  std::vector<int> stem;
  const auto number = [](const Json& channels) {
    return channels.is_number_integer() && channels >= 1 && channels <= kMost;
  };
  constexpr std::size_t kLongest = 64;
  if (!list.is_array() || list.size() > kLongest || !std::ranges::all_of(list, number)) {
    values.fail("stem_channels", "a list of numbers of channels");
  }
  stem.reserve(list.size());
  for (const Json& channels : list) stem.push_back(channels.get<int>());
  return stem;
}

Pooling pooling_of(const JsonObject& values) {
  const std::string name = values.text("pooling");
  if (name == "class_token") return Pooling::class_token;
  if (name == "mean_patches") return Pooling::mean_patches;
  values.fail("pooling", "class_token or mean_patches");
}

Config network_of(const JsonObject& values) {
  Config config;
  config.family = "vitascope";
  config.width = values.integer("hidden_size", 1, kMost);
  config.depth = values.integer("num_hidden_layers", 1, kMost);
  config.heads = values.integer("num_attention_heads", 1, kMost);
  config.mlp_width = values.integer("intermediate_size", 1, kMost);
  config.patch = values.integer("patch_size", 1, kMost);
  config.stem = stem_of(values);
  const auto [height, width] = values.pair("image_size", config.patch, kMost);
  config.position_grid = config.native_grid = {height / config.patch, width / config.patch};
  config.interpolation = model::PositionInterpolation::bicubic_antialias;
  config.learned_positions = values.boolean("train_positions", true);
  config.class_token = values.boolean("class_token", true);
  config.position_prefix = config.prefix_tokens();
  config.norm_epsilon = values.number("layer_norm_eps", config.norm_epsilon);
  config.pooling = pooling_of(values);
  config.classes = values.integer("num_labels", 0, kMost);
  const std::string problem = values.text("problem_type", "single_label_classification");
  config.multi_label = problem == "multi_label_classification";
  if (!config.multi_label && problem != "single_label_classification") {
    values.fail("problem_type", "single_label_classification or multi_label_classification");
  }
  return config;
}

}  // namespace

Description describe_vitascope(const Json& config, const std::string& path) {
  const JsonObject values(config, path);
  for (const std::string& key : values.keys()) {
    if (std::ranges::find(kKeys, key) == std::end(kKeys)) {
      values.fail(key, "no such key: a newer version of this program may know it");
    }
  }
  Description description;
  description.config = network_of(values);
  try {
    model::validate(description.config);
  } catch (const std::invalid_argument& error) {
    throw InputError(path, error.what());
  }
  add_id2label(description, values);
  return description;
}

}  // namespace vitascope::weights
