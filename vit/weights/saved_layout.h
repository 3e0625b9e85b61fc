#pragma once

#include <ATen/core/Tensor.h>

#include <map>
#include <string>

#include "vit/json.h"
#include "vit/weights/model_directory.h"

/// \file
/// A model as it will lie in a folder: each layout turns a Model into one of these.
namespace vitascope::weights {

/// The files of a folder, ready to be written.
struct SavedLayout {
  std::map<std::string, at::Tensor> tensors;  ///< by their names on disk
  std::map<std::string, Json> files;          ///< config.json and what else there is
};

/// transformers: config.json, preprocessor_config.json and the names of transformers 4, which every
/// version reads.
/// \throws UsageError naming what transformers' ViT, DeiT and DINOv2 can't express
SavedLayout transformers_layout(const Model& model);

/// timm: config.json with the nearest architecture and the arguments that make it this model. An
/// epsilon below timm's 1e-6 becomes 1e-6, which changes logits by some 3e-6.
/// \throws UsageError naming what timm's vision transformer can't express
SavedLayout timm_layout(const Model& model);

/// Ours: tensors by timm's names, and a config.json of model_type "vitascope" (see the README).
/// \throws UsageError naming what preprocessor_config.json can't express
SavedLayout vitascope_layout(const Model& model);

/// The files of `layout`.
/// \throws UsageError naming what it can't express
SavedLayout saved_layout(const Model& model, Layout layout);

/// id2label, label2id and problem_type of transformers' config.json; nothing without a head.
void add_labels(Json& config, const Model& model);

/// preprocessor_config.json.
/// \throws UsageError naming what it can't express
Json preprocessor_json(const image::Specification& specification);

/// Every parameter by timm's name.
std::map<std::string, at::Tensor> named_parameters(const Model& model);

/// Position embeddings for the model's own input, interpolated by the model's own rule: where the
/// other library would interpolate by another rule, they are stored for the size that is used.
/// Changes `config` to that grid.
void fix_positions(std::map<std::string, at::Tensor>& tensors, model::Config& config);

/// Gives position embeddings to the class and distillation token and to no register, without
/// changing what the network computes: zeros are added, and those of registers move into them.
void name_positions(std::map<std::string, at::Tensor>& tensors, model::Config& config);

/// Whether the labels are names, not plain indices.
bool has_label_names(const Model& model);

/// A float as the shortest decimal number that gives it back: 0.485, not 0.48500001430511475.
double shortest(float value);

/// \throws UsageError: "the layout of <library> can't express <what>"
[[noreturn]] void fail_to_express(const std::string& library, const std::string& what);

}  // namespace vitascope::weights
