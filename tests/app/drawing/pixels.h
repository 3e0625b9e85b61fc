#pragma once

#include <algorithm>
#include <vector>

#include "app/drawing/canvas.h"

/// \file
/// What a test finds on a canvas.
namespace vitascope::drawing {

/// The smallest area inside `part` that holds all pixels for which `wanted` is true; empty when
/// there are none.
template <typename Wanted>
Area bounds(const Canvas& canvas, const Area& part, Wanted wanted) {
  int left = part.left + part.width;
  int top = part.top + part.height;
  int right = part.left;
  int bottom = part.top;
  for (int y = part.top; y < part.top + part.height; ++y) {
    for (int x = part.left; x < part.left + part.width; ++x) {
      if (!wanted(canvas.at(x, y))) continue;
      left = std::min(left, x);
      top = std::min(top, y);
      right = std::max(right, x + 1);
      bottom = std::max(bottom, y + 1);
    }
  }
  return right > left ? Area{left, top, right - left, bottom - top} : Area{};
}

/// All that is not white.
inline Area inked(const Canvas& canvas, const Area& part) {
  return bounds(canvas, part, [](Colour c) { return !(c == Colour{255, 255, 255}); });
}
inline Area inked(const Canvas& canvas) { return inked(canvas, canvas.area()); }

/// The pixels of exactly this colour.
inline Area pixels_of(const Canvas& canvas, Colour colour) {
  return bounds(canvas, canvas.area(), [&](Colour c) { return c == colour; });
}

}  // namespace vitascope::drawing
