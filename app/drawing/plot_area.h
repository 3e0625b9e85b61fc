#pragma once

#include <string>
#include <vector>

#include "app/drawing/chart.h"
#include "app/drawing/ticks.h"

/// \file
/// What all plots share: their title, the size of their text, an axis with numbers.
namespace vitascope::drawing {

/// A canvas of which the top is used up to `top`.
struct Page {
  Canvas canvas;
  double text;  ///< size of text
  int margin;
  int top;
};

/// An empty page with a title; text fits a plot of this size.
Page titled_page(image::Size size, const std::string& title, const Font& font);

/// Cuts or extends the page at its bottom: for plots whose height follows from their content.
void set_height(Page& page, int height);

/// The width of the widest of these names.
double widest(const std::vector<std::string>& names, const Font& font, double text);

/// An axis along a line of pixels.
struct Scale {
  Range range;
  Ticks ticks;
  double begin = 0, end = 0;  ///< pixels of range.low and range.high; begin > end points upwards

  double pixel(double value) const {
    return begin + (value - range.low) / (range.high - range.low) * (end - begin);
  }
};

/// The range that is asked for, or that of the data out to round numbers; never empty.
Scale make_scale(const Axis& axis, Range data, int most_ticks);

/// Grid lines, numbers and the label of a horizontal axis under `plot`.
void draw_horizontal_axis(Canvas& canvas, const Area& plot, const Scale& scale,
                          const std::string& label, const Font& font, double text, bool grid);

/// Height that draw_horizontal_axis takes under the plot.
int horizontal_axis_height(const std::string& label, double text);

}  // namespace vitascope::drawing
