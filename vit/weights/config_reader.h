#pragma once

#include <string>
#include <vector>

#include "vit/json_object.h"
#include "vit/model/config.h"
#include "vit/weights/stored_tensors.h"

/// \file
/// A model's own description -> model::Config. What the description leaves out (timm says only what
/// was overridden) is read off the names and shapes of the tensors.
namespace vitascope::weights {

/// What a model's files say of it.
struct Description {
  model::Config config;
  std::vector<std::string> labels;  ///< in order of index; empty when the files name none
  std::string label_source;         ///< "id2label of config.json", ...; empty as well
  std::vector<std::string> notes;   ///< where the tensors decided against the description
  /// Whether the files say that the classes are ImageNet's, so that a built-in list may name them.
  bool imagenet = false;
};

/// transformers: ViT, DeiT, DINOv2, DINOv2 with registers and ViTMAE's encoder, with or without a
/// head. id2label is ordered by number; the placeholders LABEL_0, LABEL_1, ... count as no labels.
/// \throws InputError naming the key: an unknown model_type (with the known ones), a missing or
///         impossible value
Description describe_transformers(const Json& config, const std::string& path,
                                  const StoredTensors& tensors);

/// timm: `architecture` and `model_args` of config.json, the rest from the tensors.
/// \throws InputError as above; an unknown architecture names the nearest known one
Description describe_timm(const Json& config, const std::string& path,
                          const StoredTensors& tensors);

/// Takes the labels from `id2label`, as transformers writes it.
/// \throws InputError when it names another number of classes than the head has
void add_id2label(Description& description, const JsonObject& values);

/// What vitascope_layout writes.
/// \throws InputError naming the key: unknown, missing or with an impossible value
Description describe_vitascope(const Json& config, const std::string& path);

/// An AugReg .npz: everything follows from the shapes.
/// \throws InputError naming the tensor that is missing or has an impossible shape
Description describe_npz(const StoredTensors& tensors, const std::string& path);

/// A bare weight file in timm's names, with an architecture that the person named.
/// \throws InputError naming the nearest known architecture, or when the names are not timm's
Description describe_architecture(const std::string& architecture, const StoredTensors& tensors,
                                  const std::string& path);

}  // namespace vitascope::weights
