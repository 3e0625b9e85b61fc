#include "vit/error.h"
#include "vit/weights/config_reader.h"
#include "vit/weights/saved_layout.h"

namespace vitascope::weights {
namespace {

using model::Config;

Json config_json(const Config& config) {
  return {
      {"model_type", "vitascope"},
      {"hidden_size", config.width},
      {"num_hidden_layers", config.depth},
      {"num_attention_heads", config.heads},
      {"intermediate_size", config.mlp_width},
      {"patch_size", config.patch},
      {"image_size",
       {config.native_grid.rows * config.patch, config.native_grid.columns * config.patch}},
      {"stem_channels", config.stem},
      {"train_positions", config.learned_positions},
      {"class_token", config.class_token},
      {"pooling", config.pooling == model::Pooling::mean_patches ? "mean_patches" : "class_token"},
      {"layer_norm_eps", config.norm_epsilon},
      {"num_labels", config.classes}};
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
  if (told != config) {
    fail_to_express("vitascope",
                    "more than a plain or compact vision transformer (two heads, registers, "
                    "LayerScale, SwiGLU, other norms, biases or activations)");
  }
  add_labels(json, model);
  layout.files["config.json"] = json;
  if (model.specification) {
    layout.files["preprocessor_config.json"] = preprocessor_json(*model.specification);
  }
  return layout;
}

}  // namespace vitascope::weights
