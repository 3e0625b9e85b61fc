#pragma once

#include <nlohmann/json.hpp>
#include <span>
#include <string>

#include "vit/image/view.h"

/// \file
/// What pages carry, as JSON inside an HTML element.
namespace vitascope::app::report {

using Json = nlohmann::ordered_json;

/// Maps of `cells` values each, as maps.js unpacks them: {low, high, levels}.
/// \throws InternalError as pack does, which calls them `name`
Json packed(std::span<const float> maps, std::size_t cells, const std::string& name);

/// [left, top, width, height]
Json rectangle(const image::Rectangle& edges);

/// JSON that can't end the element that it stands in.
std::string for_script(const Json& json);

}  // namespace vitascope::app::report
