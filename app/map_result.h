#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "app/map_maker.h"

/// \file
/// What `attend` prints of a photo.
namespace vitascope::app {

/// A line for the photo and one for each of its maps.
/// \param file where the picture went; may be empty
std::string photo_lines(const ExplainedPhoto& photo, const std::string& file);

/// path, output, prediction {index, label, probability} (null for a backbone), maps [{method,
/// layer, head, class, grid [rows, columns], least, greatest, seconds, peak {row, column, pixels
/// [left, top, right, bottom]}}].
nlohmann::ordered_json photo_json(const ExplainedPhoto& photo, const std::string& file);

}  // namespace vitascope::app
