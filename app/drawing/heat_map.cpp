#include "app/drawing/heat_map.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "app/drawing/colour_bar.h"
#include "app/drawing/plot_area.h"
#include "app/drawing/theme.h"
#include "vit/error.h"

namespace vitascope::drawing {
namespace {

int rounded(double value) { return static_cast<int>(std::lround(value)); }

Range range_of(const HeatMap& map) {
  if (map.range) return *map.range;
  std::vector<double> finite;
  std::copy_if(map.values.begin(), map.values.end(), std::back_inserter(finite),
               [](double value) { return std::isfinite(value); });
  if (finite.empty()) return {0, 0};
  const auto [low, high] = std::minmax_element(finite.begin(), finite.end());
  return {*low, *high};
}

/// One cell: its colour, and its number where that fits.
void draw_cell(Page& page, const Area& cell, double value, const HeatMap& map, Range range,
               const Font& font) {
  if (!std::isfinite(value)) return page.canvas.frame(cell, 1, kHairline);
  const Colour fill = colour(map.colours, part_of(range, value));
  page.canvas.fill(cell, fill);
  const std::string number = fmt::format("{:.2g}", value);
  const double size = 0.9 * page.text;
  if (font.width(number, size) + 4 > cell.width || 1.2 * size > cell.height) return;
  font.draw(
      page.canvas,
      {cell.left + cell.width / 2.0, cell.top + (cell.height + font.capital_height(size)) / 2.0},
      number, size, luma(fill) > 120 ? Colour{0, 0, 0} : kPaper, Align::centre);
}

}  // namespace

Canvas draw(const HeatMap& map, int width, const Font& font) {
  const int rows = static_cast<int>(map.rows.size());
  const int columns = static_cast<int>(map.columns.size());
  if (rows == 0 || columns == 0 || map.values.size() != map.rows.size() * map.columns.size()) {
    throw InternalError(
        fmt::format("a heat map of {} x {} with {} values", rows, columns, map.values.size()));
  }
  const double text = std::max(11.0, width / 52.0);
  Page page = titled_page({width, rounded(30 * text)}, map.title, font);
  double names = 0;
  for (const std::string& name : map.rows) names = std::max(names, font.width(name, text));
  names = std::min(names, 0.35 * width);
  const int left = rounded(page.margin + names + 0.6 * text);
  const double pitch = static_cast<double>(width - page.margin - left) / columns;
  const int row_height = rounded(std::clamp(pitch, 1.7 * text, 3.2 * text));
  const int heads = rounded(1.6 * text);
  const int height = page.top + heads + rows * row_height + rounded(1.2 * text) +
                     colour_bar_height(text) + page.margin / 2;
  Canvas paper({width, height}, kPaper);
  paper.draw(page.canvas, 0, 0);
  page.canvas = paper;
  const Range range = range_of(map);
  const int top = page.top + heads;
  const auto column_left = [&](int column) { return left + rounded(column * pitch); };
  for (int column = 0; column < columns; ++column) {
    font.draw(page.canvas, {left + (column + 0.5) * pitch, top - 0.5 * text},
              font.shortened(map.columns[static_cast<std::size_t>(column)], text, pitch - 2), text,
              kMuted, Align::centre);
  }
  for (int row = 0; row < rows; ++row) {
    const int y = top + row * row_height;
    font.draw(page.canvas, {left - 0.6 * text, y + (row_height + font.capital_height(text)) / 2.0},
              font.shortened(map.rows[static_cast<std::size_t>(row)], text, names), text, kInk,
              Align::right);
    for (int column = 0; column < columns; ++column) {
      const int x = column_left(column);
      draw_cell(page, {x, y, column_left(column + 1) - x - 1, row_height - 1},
                map.values[static_cast<std::size_t>(row * columns + column)], map, range, font);
    }
  }
  draw_colour_bar(page.canvas, left, top + rows * row_height + rounded(0.8 * text),
                  width - page.margin - left, {map.colours, range, false, false}, font, text);
  return page.canvas;
}

}  // namespace vitascope::drawing
