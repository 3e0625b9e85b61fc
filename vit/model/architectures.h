#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "vit/model/config.h"

/// \file
/// timm's names of vision transformers and what each of them sets.
namespace vitascope::model {

/// "vit_base_patch16_224", "deit3_small_patch16_224.fb_in1k", "vit_small_patch14_dinov2", ...: a
/// name with or without its tag. Nothing for a name that is not known.
std::optional<Config> architecture(std::string_view name);

/// Every known name, for suggestions and `--help`.
std::vector<std::string> architecture_names();

}  // namespace vitascope::model
