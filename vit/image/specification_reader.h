#pragma once

#include <string>

#include "vit/image/specification.h"
#include "vit/json.h"

/// \file
/// A model's own files -> image::Specification.
namespace vitascope::image {

/// From transformers' preprocessor_config.json: ViTImageProcessor, DeiTImageProcessor,
/// BitImageProcessor, ViTFeatureExtractor, DeiTFeatureExtractor and their `Fast` and `Pil` twins.
/// `size` is a number, {height, width} or {shortest_edge}; do_* switches are honoured.
/// \throws InputError that names the missing or unusable key; `path` is the file's name
Specification specification_from_transformers(const Json& preprocessor, const std::string& path);

/// From timm's `pretrained_cfg` (or the older flat config.json): input_size, crop_pct, crop_mode
/// (center, squash, border), interpolation, mean, std.
/// \throws InputError that names the missing or unusable key; `path` is the file's name
Specification specification_from_timm(const Json& pretrained_cfg, const std::string& path);

}  // namespace vitascope::image
