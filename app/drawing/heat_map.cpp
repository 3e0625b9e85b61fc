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

/// Where the cells stand.
struct Cells {
  int left, top, height;  ///< height: of one row
  double width;           ///< of one column

  Area at(int row, int column) const {
    const int x = left + rounded(column * width);
    return {x, top + row * height, left + rounded((column + 1) * width) - x - 1, height - 1};
  }
};

void draw_names(Page& page, const HeatMap& map, const Cells& cells, double room, const Font& font) {
  const double text = page.text;
  for (std::size_t i = 0; i < map.columns.size(); ++i) {
    font.draw(page.canvas,
              {cells.left + (static_cast<double>(i) + 0.5) * cells.width, cells.top - 0.5 * text},
              font.shortened(map.columns[i], text, cells.width - 2), text, kMuted, Align::centre);
  }
  const double middle = (cells.height + font.capital_height(text)) / 2;
  for (std::size_t i = 0; i < map.rows.size(); ++i) {
    font.draw(page.canvas,
              {cells.left - 0.6 * text, cells.top + static_cast<double>(i) * cells.height + middle},
              font.shortened(map.rows[i], text, room), text, kInk, Align::right);
  }
}

}  // namespace

Canvas draw(const HeatMap& map, int width, const Font& font) {
  const int rows = static_cast<int>(map.rows.size());
  const int columns = static_cast<int>(map.columns.size());
  if (rows == 0 || columns == 0 || map.values.size() != map.rows.size() * map.columns.size()) {
    throw InternalError(
        fmt::format("a heat map of {} x {} with {} values", rows, columns, map.values.size()));
  }
  Page page = titled_page({width, width}, map.title, font);
  const double text = page.text;
  const double names = std::min(widest(map.rows, font, text), 0.35 * width);
  Cells cells{rounded(page.margin + names + 0.6 * text), page.top + rounded(1.6 * text), 0, 0};
  const int all = width - page.margin - cells.left;
  cells.width = static_cast<double>(all) / columns;
  cells.height = rounded(std::clamp(cells.width, 1.7 * text, 3.2 * text));
  const int bar = cells.top + rows * cells.height + rounded(0.8 * text);
  set_height(page, bar + colour_bar_height(text) + page.margin / 2);
  draw_names(page, map, cells, names, font);
  const Range range = range_of(map);
  auto value = map.values.begin();
  for (int row = 0; row < rows; ++row) {
    for (int column = 0; column < columns; ++column) {
      draw_cell(page, cells.at(row, column), *value++, map, range, font);
    }
  }
  draw_colour_bar(page.canvas, cells.left, bar, all, {map.colours, range, false, false}, font,
                  text);
  return page.canvas;
}

}  // namespace vitascope::drawing
