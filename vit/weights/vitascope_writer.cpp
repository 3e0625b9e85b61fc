#include <algorithm>

#include "vit/error.h"
#include "vit/weights/config_reader.h"
#include "vit/weights/saved_layout.h"
#include "vit/weights/vitascope_keys.h"

namespace vitascope::weights {
namespace {

using model::Config;

template <typename Value, std::size_t N>
const char* word_for(Value value, const Word<Value> (&words)[N]) {
  return std::ranges::find(words, value, &Word<Value>::value)->text;
}

Json config_json(const Config& config) {
  Json json{{"model_type", "vitascope"},
            {"hidden_size", config.width},
            {"num_hidden_layers", config.depth},
            {"num_attention_heads", config.heads},
            {"intermediate_size", config.mlp_width},
            {"patch_size", config.patch},
            {"image_size",
             {config.native_grid.rows * config.patch, config.native_grid.columns * config.patch}},
            {"stem_channels", config.stem},
            {"registers", config.registers},
            {"position_prefix", config.position_prefix},
            {"position_interpolation", word_for(config.interpolation, kInterpolations)},
            {"hidden_act", word_for(config.activation, kActivations)},
            {"layer_norm_eps", config.norm_epsilon},
            {"pooling", word_for(config.pooling, kPoolings)},
            {"num_labels", config.classes}};
  for (const SwitchKey& part : kSwitchKeys) json[part.key] = config.*part.member;
  if (config.neighbours) {
    json["neighbours"] = {{"count", config.neighbours->count},
                          {"temperature", config.neighbours->temperature},
                          {"photos", config.neighbours->photos}};
  }
  return json;
}

}  // namespace

SavedLayout vitascope_layout(const Model& model) {
  Config config = model.network.config();
  config.family = "vitascope";
  SavedLayout layout;
  layout.tensors = named_parameters(model);
  fix_positions(layout.tensors, config);
  Json json = config_json(config);
  Config told = describe_vitascope(json, "config.json").config;
  told.multi_label = config.multi_label;
  if (told != config) throw InternalError("vitascope_layout: a part of the model is not told");
  add_labels(json, model);
  layout.files["config.json"] = json;
  if (model.specification) {
    layout.files["preprocessor_config.json"] = preprocessor_json(*model.specification);
  }
  return layout;
}

}  // namespace vitascope::weights
