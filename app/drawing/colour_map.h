#pragma once

#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "app/drawing/canvas.h"

/// \file
/// Numbers as colours.
namespace vitascope::drawing {

/// viridis and inferno (van der Walt and Smith, 2015) rise evenly in brightness to the eye; turbo
/// (Mikhailov, 2019) shows more steps but rises and falls; grey is for printing.
enum class ColourMap { viridis, inferno, turbo, grey };

/// The 256 colours from the least value to the greatest; matplotlib's, to within one level.
const std::array<Colour, 256>& table(ColourMap map);

/// The colour of `part` of the way from the least value to the greatest, clamped to 0 and 1.
Colour colour(ColourMap map, double part);

/// "viridis" and so on, as an option spells them.
std::vector<std::string> colour_map_names();

/// The map of that name, or nothing.
std::optional<ColourMap> find_colour_map(std::string_view name);

}  // namespace vitascope::drawing
