#pragma once

#include <vector>

#include "app/drawing/text.h"

/// \file
/// Lines with smooth edges.
namespace vitascope::drawing {

/// Draws a line through `points` with round joints and ends, inside `clip` only. Where it crosses
/// itself it is not darker. Points that are not finite break the line.
void stroke(Canvas& canvas, const Area& clip, const std::vector<Point>& points, double width,
            Colour colour);

/// A filled disc.
void disc(Canvas& canvas, const Area& clip, Point centre, double radius, Colour colour);

/// The same line as pieces of `length` with gaps as long.
std::vector<std::vector<Point>> dashes(const std::vector<Point>& points, double length);

}  // namespace vitascope::drawing
