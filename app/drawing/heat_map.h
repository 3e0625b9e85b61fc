#pragma once

#include <optional>
#include <string>
#include <vector>

#include "app/drawing/chart.h"
#include "app/drawing/colour_map.h"

/// \file
/// A matrix of numbers as colours.
namespace vitascope::drawing {

/// A matrix with names for its rows and columns.
struct HeatMap {
  std::string title;
  std::vector<std::string> rows, columns;
  std::vector<double> values;  ///< [rows, columns]; one that is not finite is left white
  ColourMap colours = ColourMap::viridis;
  std::optional<Range> range;  ///< without one: from the least to the greatest value
};

/// Draws a matrix of this width with its numbers, where they fit, and a colour bar.
/// \throws InternalError when the number of values is not that of the cells
Canvas draw(const HeatMap& map, int width, const Font& font);

}  // namespace vitascope::drawing
