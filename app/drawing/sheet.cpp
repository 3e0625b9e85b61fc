#include "app/drawing/sheet.h"

#include <algorithm>
#include <cmath>

#include "app/drawing/theme.h"
#include "vit/error.h"

namespace vitascope::drawing {
namespace {

constexpr int kWidth = 1600;  ///< of a sheet whose panels have no width of their own

/// Where everything goes, in pixels.
struct Layout {
  int columns, rows;
  image::Size room;  ///< of one picture
  double text;
  int margin, gap, label;
  int width() const { return 2 * margin + columns * room.width + (columns - 1) * gap; }
};

/// The room has the aspect of the panel that is highest for its width.
Layout layout_of(const Sheet& sheet) {
  Layout layout{};
  const int panels = static_cast<int>(sheet.panels.size());
  layout.columns = sheet.columns > 0 ? std::min(sheet.columns, panels) : sheet_columns(panels);
  layout.rows = (panels + layout.columns - 1) / layout.columns;
  const int wide =
      sheet.panel_width > 0 ? sheet.panel_width : std::clamp(kWidth / layout.columns - 16, 96, 640);
  double aspect = 0;
  for (const Panel& panel : sheet.panels) {
    const image::Size size = panel.picture.size();
    aspect = std::max(aspect, static_cast<double>(size.height) / size.width);
  }
  layout.room = {wide, std::max(1, rounded(wide * std::min(aspect, 1.5)))};
  layout.text = std::clamp(wide / 16.0, 12.0, 32.0);
  layout.margin = rounded(1.6 * layout.text);
  layout.gap = rounded(0.9 * layout.text);
  layout.label = rounded(1.9 * layout.text);
  return layout;
}

struct Line {
  std::string text;
  double size;
  Colour colour;
};

std::vector<Line> heading(const Sheet& sheet, const Layout& layout, const Font& font) {
  std::vector<Line> lines;
  if (!font.present()) return lines;
  const double width = layout.width() - 2 * layout.margin;
  for (std::string& line : font.wrapped(sheet.title, 1.4 * layout.text, width)) {
    lines.push_back({std::move(line), 1.4 * layout.text, kInk});
  }
  for (const std::string& note : sheet.notes) {
    for (std::string& line : font.wrapped(note, layout.text, width)) {
      lines.push_back({std::move(line), layout.text, kMuted});
    }
  }
  return lines;
}

void draw_panel(Canvas& canvas, const Panel& panel, const Layout& layout, int left, int top,
                const Font& font) {
  const image::Size size = fitted(panel.picture.size(), layout.room);
  canvas.draw(panel.picture.resized(size), left + (layout.room.width - size.width) / 2,
              top + (layout.room.height - size.height) / 2);
  font.draw(canvas, {left + layout.room.width / 2.0, top + layout.room.height + 1.25 * layout.text},
            font.shortened(panel.label, layout.text, layout.room.width), layout.text, kInk,
            Align::centre);
}

}  // namespace

int sheet_columns(int panels) {
  // The widest grid of at most four columns for three rows: 12 heads are 4 x 3, 16 are 5 x 4.
  return std::clamp(static_cast<int>(std::ceil(std::sqrt(panels * 4 / 3.0) - 1e-9)), 1, panels);
}

Canvas draw(const Sheet& sheet, const Font& font) {
  if (sheet.panels.empty()) throw InternalError("a sheet without panels");
  const Layout layout = layout_of(sheet);
  const std::vector<Line> lines = heading(sheet, layout, font);
  double y = layout.margin;
  for (const Line& line : lines) y += Font::line_height(line.size);
  const int top = rounded(y + (lines.empty() ? 0 : 0.8 * layout.text));
  const int pitch = layout.room.height + layout.label + layout.gap / 2;
  const int bar = sheet.scale ? colour_bar_height(layout.text) + layout.gap : 0;
  Canvas canvas({layout.width(), top + layout.rows * pitch + bar + layout.margin / 2}, kPaper);
  y = layout.margin;
  for (const Line& line : lines) {
    font.draw(canvas, {static_cast<double>(layout.margin), y + line.size}, line.text, line.size,
              line.colour);
    y += Font::line_height(line.size);
  }
  for (std::size_t i = 0; i < sheet.panels.size(); ++i) {
    const int column = static_cast<int>(i) % layout.columns;
    const int row = static_cast<int>(i) / layout.columns;
    draw_panel(canvas, sheet.panels[i], layout,
               layout.margin + column * (layout.room.width + layout.gap), top + row * pitch, font);
  }
  if (sheet.scale) {
    const int width = std::min(layout.width() - 2 * layout.margin, rounded(40 * layout.text));
    draw_colour_bar(canvas, layout.margin, top + layout.rows * pitch + layout.gap / 2, width,
                    *sheet.scale, font, layout.text);
  }
  return canvas;
}

}  // namespace vitascope::drawing
