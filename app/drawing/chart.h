#pragma once

#include <optional>
#include <string>
#include <vector>

#include "app/drawing/cell_map.h"
#include "app/drawing/text.h"

/// \file
/// Plots of numbers.
namespace vitascope::drawing {

/// What an axis is about.
struct Axis {
  std::string label;
  std::optional<Range> range{};  ///< without one: that of the data, out to round numbers
  bool whole = false;            ///< it counts something: numbers between whole ones mean nothing
};

/// One line of a chart.
struct Series {
  std::string name;
  std::vector<Point> points;  ///< in the data's units; a point that is not finite leaves a gap
  bool control = false;       ///< what the others are compared with: grey and dashed
};

/// A place on the horizontal axis that is worth a name.
struct Mark {
  double x = 0;
  std::string name;
};

/// Lines over two axes, with a legend where there is more than one.
struct LineChart {
  std::string title;
  Axis x, y;
  std::vector<Series> series;
  std::vector<Mark> marks{};  ///< dotted upright lines, their names beside them
};

/// One bar of a chart.
struct Bar {
  std::string name;
  double value = 0;              ///< drawn from zero
  std::optional<Range> whisker;  ///< e.g. a confidence interval
  bool control = false;          ///< grey
};

/// Bars that lie, one below the other, so that their names can be read.
struct BarChart {
  std::string title;
  Axis value;
  std::vector<Bar> bars;
};

/// Draws a chart of this size; text grows with it.
Canvas draw(const LineChart& chart, image::Size size, const Font& font);
/// Draws a chart of this width; its height follows from the number of bars.
Canvas draw(const BarChart& chart, int width, const Font& font);

}  // namespace vitascope::drawing
