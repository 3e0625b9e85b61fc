#pragma once

#include <string>

#include "app/map_maker.h"
#include "app/output.h"

/// \file
/// What `attend` prints of a photo.
namespace vitascope::app {

/// A line for each photo and one for each of its maps, or one JSON object: path, output, prediction
/// {index, label, probability} (null for a backbone), maps [{method, layer, head, class, grid
/// [rows, columns], least, greatest, peak {row, column, pixels [left, top, right, bottom]}}].
std::string render(const ExplainedPhoto& photo, const std::string& file, output::Format format);

}  // namespace vitascope::app
