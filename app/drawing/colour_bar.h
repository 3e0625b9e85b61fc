#pragma once

#include <string>

#include "app/drawing/cell_map.h"
#include "app/drawing/colour_map.h"
#include "app/drawing/text.h"

/// \file
/// What the colours of a picture mean.
namespace vitascope::drawing {

/// The colours of a range of values.
struct ColourScale {
  ColourMap colours = ColourMap::viridis;
  Range range;
  bool below = false;  ///< values below the range are shown in its first colour: marked by "≤"
  bool above = false;  ///< values above it in the last colour: marked by "≥"
};

/// Height of a colour bar with its numbers.
int colour_bar_height(double text_size);

/// Draws a bar from the least to the greatest value with the numbers under it: both ends, and round
/// numbers between them where there is room.
void draw_colour_bar(Canvas& canvas, int left, int top, int width, const ColourScale& scale,
                     const Font& font, double text_size);

}  // namespace vitascope::drawing
