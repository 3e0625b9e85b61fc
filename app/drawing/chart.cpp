#include "app/drawing/chart.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "app/drawing/plot_area.h"
#include "app/drawing/stroke.h"
#include "app/drawing/theme.h"

namespace vitascope::drawing {
namespace {

/// A range that grows with what it is shown.
struct Extent {
  Range range{std::numeric_limits<double>::infinity(), -std::numeric_limits<double>::infinity()};

  void include(double value) {
    if (!std::isfinite(value)) return;
    range.low = std::min(range.low, value);
    range.high = std::max(range.high, value);
  }
  Range found() const { return range.low <= range.high ? range : Range{0, 1}; }
};

/// Controls are grey; the others take the colours in turn.
std::vector<Colour> colours_of(const std::vector<Series>& series) {
  std::vector<Colour> colours;
  colours.reserve(series.size());
  std::size_t next = 0;
  for (const Series& one : series) {
    colours.push_back(one.control ? kMuted : kSeries[next++ % kSeries.size()]);
  }
  return colours;
}

void draw_line(Canvas& canvas, const Area& clip, const std::vector<Point>& points, double width,
               Colour colour, bool dashed) {
  if (!dashed) return stroke(canvas, clip, points, width, colour);
  for (const auto& piece : dashes(points, 3 * width)) stroke(canvas, clip, piece, width, colour);
}

/// Names with a piece of their line, side by side, in as many rows as they need.
void draw_legend(Page& page, const std::vector<Series>& series, const Font& font) {
  const double row = 1.6 * page.text;
  const double sample = 1.8 * page.text;
  const double right = page.canvas.size().width - page.margin;
  const std::vector<Colour> colours = colours_of(series);
  double x = page.margin;
  double y = page.top + row / 2;
  for (std::size_t i = 0; i < series.size(); ++i) {
    const std::string name =
        font.shortened(series[i].name, page.text, right - page.margin - 1.3 * sample);
    const double width = 1.3 * sample + font.width(name, page.text);
    if (x > page.margin && x + width > right) {
      x = page.margin;
      y += row;
    }
    draw_line(page.canvas, page.canvas.area(), {{x, y}, {x + sample, y}}, page.text / 6, colours[i],
              series[i].control);
    font.draw(page.canvas, {x + 1.3 * sample, y + font.capital_height(page.text) / 2}, name,
              page.text, kInk);
    x += width + 1.5 * page.text;
  }
  page.top = rounded(y + row / 2 + 0.3 * page.text);
}

/// The numbers of the vertical axis and its grid; returns where the plot begins.
int draw_vertical_axis(Page& page, const Scale& scale, const Font& font) {
  double widest = 0;
  for (const double value : scale.ticks.values) {
    widest = std::max(widest, font.width(tick_label(value, scale.ticks.step), page.text));
  }
  const double right = page.margin + widest;
  const int left = rounded(right + 0.6 * page.text);
  const double half = font.capital_height(page.text) / 2;
  for (const double value : scale.ticks.values) {
    const double y = scale.pixel(value);
    page.canvas.fill({left, static_cast<int>(y), page.canvas.size().width - page.margin - left, 1},
                     kHairline);
    font.draw(page.canvas, {right, y + half}, tick_label(value, scale.ticks.step), page.text,
              kMuted, Align::right);
  }
  return left;
}

void draw_whisker(Canvas& canvas, const Area& plot, Range ends, double y, double text) {
  const double cap = 0.3 * text;
  const double width = std::max(1.2, text / 10);
  for (const auto& line : {std::vector<Point>{{ends.low, y}, {ends.high, y}},
                           std::vector<Point>{{ends.low, y - cap}, {ends.low, y + cap}},
                           std::vector<Point>{{ends.high, y - cap}, {ends.high, y + cap}}}) {
    stroke(canvas, plot, line, width, kInk);
  }
}

Range extent_of(const std::vector<Bar>& bars) {
  Extent extent;
  extent.include(0);
  for (const Bar& bar : bars) {
    extent.include(bar.value);
    if (bar.whisker) extent.include(bar.whisker->low);
    if (bar.whisker) extent.include(bar.whisker->high);
  }
  return extent.found();
}

/// One bar, its name on the left and its value behind it.
void draw_bar(Page& page, const Bar& bar, const Area& plot, int top, int height, const Scale& scale,
              const Font& font) {
  const double middle = top + height / 2.0;
  const double base = middle + font.capital_height(page.text) / 2;
  const double gap = 0.6 * page.text;
  font.draw(page.canvas, {plot.left - gap, base},
            font.shortened(bar.name, page.text, plot.left - gap - page.margin), page.text, kInk,
            Align::right);
  if (!std::isfinite(bar.value)) return;
  const double zero = std::clamp(0.0, scale.range.low, scale.range.high);
  const double from = scale.pixel(zero);
  const double to = scale.pixel(std::clamp(bar.value, scale.range.low, scale.range.high));
  const int left = rounded(std::min(from, to));
  page.canvas.fill({left, top, std::max(1, rounded(std::max(from, to)) - left), height},
                   bar.control ? Colour{160, 168, 176} : kSeries[0]);
  double behind = std::max(from, to);
  if (bar.whisker) {
    const Range ends{scale.pixel(bar.whisker->low), scale.pixel(bar.whisker->high)};
    draw_whisker(page.canvas, plot, ends, middle, page.text);
    behind = std::max(behind, ends.high);
  }
  font.draw(page.canvas, {behind + gap, base}, short_number(bar.value), page.text, kMuted);
}

/// All lines, which may stand out of the plot by their own width but not by more.
void draw_series(Page& page, const std::vector<Series>& all, const Area& plot, const Scale& x,
                 const Scale& y) {
  const std::vector<Colour> colours = colours_of(all);
  const int rim = std::max(1, rounded(page.text / 6));
  const Area clip{plot.left, plot.top - rim, plot.width + rim, plot.height + 2 * rim};
  for (std::size_t i = 0; i < all.size(); ++i) {
    std::vector<Point> points;
    points.reserve(all[i].points.size());
    for (const Point& point : all[i].points) points.push_back({x.pixel(point.x), y.pixel(point.y)});
    draw_line(page.canvas, clip, points, page.text / 6, colours[i], all[i].control);
    if (points.size() == 1) disc(page.canvas, clip, points[0], page.text / 4, colours[i]);
  }
}

/// Names stand on the side where there is more room.
void draw_marks(Page& page, const std::vector<Mark>& marks, const Area& plot, const Scale& x,
                const Font& font) {
  for (const Mark& mark : marks) {
    const double at = x.pixel(mark.x);
    const double bottom = plot.top + plot.height;
    for (const auto& dot :
         dashes({{at, static_cast<double>(plot.top)}, {at, bottom}}, page.text / 4)) {
      stroke(page.canvas, plot, dot, page.text / 10, kInk);
    }
    const bool left = at > plot.left + plot.width / 2.0;
    font.draw(page.canvas, plot, {at + (left ? -0.4 : 0.4) * page.text, bottom - 0.5 * page.text},
              mark.name, page.text, kInk, left ? Align::right : Align::left);
  }
}

}  // namespace

Canvas draw(const LineChart& chart, image::Size size, const Font& font) {
  Page page = titled_page(size, chart.title, font);
  const double text = page.text;
  if (chart.series.size() > 1) draw_legend(page, chart.series, font);
  if (!chart.y.label.empty()) {
    font.draw(page.canvas, {static_cast<double>(page.margin), page.top + text},
              font.shortened(chart.y.label, text, size.width - 2 * page.margin), text, kMuted);
    page.top += rounded(1.5 * text);
  }
  Extent across;
  Extent up;
  for (const Series& series : chart.series) {
    for (const Point& point : series.points) {
      if (!std::isfinite(point.x) || !std::isfinite(point.y)) continue;
      across.include(point.x);
      up.include(point.y);
    }
  }
  const int top = page.top + rounded(0.6 * text);
  const int bottom = size.height - page.margin / 2 - horizontal_axis_height(chart.x.label, text);
  Scale y = make_scale(chart.y, up.found(), rounded((bottom - top) / (3.5 * text)));
  y.begin = bottom - 0.5;
  y.end = top + 0.5;
  const int left = draw_vertical_axis(page, y, font);
  const Area plot{left, top, std::max(1, size.width - page.margin - left),
                  std::max(1, bottom - top)};
  Scale x = make_scale(chart.x, across.found(), rounded(plot.width / (6 * text)));
  x.begin = plot.left;
  x.end = plot.left + plot.width;
  draw_horizontal_axis(page.canvas, plot, x, chart.x.label, font, text, false);
  page.canvas.fill({plot.left, bottom - 1, plot.width, 1}, kMuted);
  draw_series(page, chart.series, plot, x, y);
  draw_marks(page, chart.marks, plot, x, font);
  return page.canvas;
}

Canvas draw(const BarChart& chart, int width, const Font& font) {
  Page page = titled_page({width, width}, chart.title, font);
  const double text = page.text;
  const int pitch = rounded(2.1 * text);
  const int rows = static_cast<int>(chart.bars.size());
  const int axis = horizontal_axis_height(chart.value.label, text);
  set_height(page, page.top + rows * pitch + axis + page.margin / 2);
  std::vector<std::string> names;
  names.reserve(chart.bars.size());
  for (const Bar& bar : chart.bars) names.push_back(bar.name);
  const double widest_name = std::min(widest(names, font, text), 0.4 * width);
  const int left = rounded(page.margin + widest_name + 0.6 * text);
  const int right = width - page.margin - rounded(font.width("0.000", text) + 0.6 * text);
  const Area plot{left, page.top, std::max(1, right - left), rows * pitch};
  Scale scale = make_scale(chart.value, extent_of(chart.bars), rounded(plot.width / (6 * text)));
  scale.begin = plot.left;
  scale.end = plot.left + plot.width;
  draw_horizontal_axis(page.canvas, plot, scale, chart.value.label, font, text, true);
  const int gap = pitch / 5;
  for (int i = 0; i < rows; ++i) {
    draw_bar(page, chart.bars[static_cast<std::size_t>(i)], plot, plot.top + i * pitch + gap,
             pitch - 2 * gap, scale, font);
  }
  const double zero = std::clamp(0.0, scale.range.low, scale.range.high);
  page.canvas.fill({rounded(scale.pixel(zero)), plot.top, 1, plot.height}, kMuted);
  return page.canvas;
}

}  // namespace vitascope::drawing
