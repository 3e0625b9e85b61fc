#include "app/drawing/plot_area.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "app/drawing/theme.h"

namespace vitascope::drawing {

Page titled_page(image::Size size, const std::string& title, const Font& font) {
  const double text = std::max(11.0, std::min(size.width / 52.0, size.height / 30.0));
  const int margin = rounded(1.4 * text);
  Page page{Canvas(size, kPaper), text, margin, margin};
  if (title.empty() || !font.present()) return page;
  const double headline = 1.25 * text;
  for (const std::string& line : font.wrapped(title, headline, size.width - 2 * margin)) {
    font.draw(page.canvas, {static_cast<double>(margin), page.top + headline}, line, headline,
              kInk);
    page.top += rounded(Font::line_height(headline));
  }
  page.top += rounded(0.4 * text);
  return page;
}

void set_height(Page& page, int height) {
  Canvas canvas({page.canvas.size().width, height}, kPaper);
  canvas.draw(page.canvas, 0, 0);
  page.canvas = std::move(canvas);
}

double widest(const std::vector<std::string>& names, const Font& font, double text) {
  double width = 0;
  for (const std::string& name : names) width = std::max(width, font.width(name, text));
  return width;
}

namespace {

/// As many round numbers as there is room for; of an axis that counts, whole ones only.
Ticks ticks_of(const Axis& axis, Range range, int most) {
  Ticks ticks = round_ticks(range, most);
  while (axis.whole && ticks.step < 1 && most > 2) ticks = round_ticks(range, --most);
  return ticks;
}

}  // namespace

Scale make_scale(const Axis& axis, Range data, int most_ticks) {
  if (axis.range && axis.range->high > axis.range->low) {
    return {*axis.range, ticks_of(axis, *axis.range, most_ticks)};
  }
  if (!(data.high > data.low)) {  // one value, or none
    const double room = std::max(std::abs(data.low), 1.0) / 2;
    data = {data.low - room, data.low + room};
  }
  const double step = round_ticks(data, most_ticks).step;
  const Range out{std::floor(data.low / step + 1e-9) * step,
                  std::ceil(data.high / step - 1e-9) * step};
  return {out, ticks_of(axis, out, most_ticks + 2)};
}

void draw_horizontal_axis(Canvas& canvas, const Area& plot, const Scale& scale,
                          const std::string& label, const Font& font, double text, bool grid) {
  const int bottom = plot.top + plot.height;
  const int tick = std::max(2, rounded(text / 3));
  for (const double value : scale.ticks.values) {
    const double x = scale.pixel(value);
    const int column = std::min(static_cast<int>(x), plot.left + plot.width - 1);
    if (grid) {
      canvas.fill({column, plot.top, 1, plot.height}, kHairline);
    } else {
      canvas.fill({column, bottom, 1, tick}, kMuted);
    }
    font.draw(canvas, {x, bottom + tick + 1.1 * text}, tick_label(value, scale.ticks.step), text,
              kMuted, Align::centre);
  }
  font.draw(canvas, {plot.left + plot.width / 2.0, bottom + tick + 2.7 * text},
            font.shortened(label, text, plot.width), text, kMuted, Align::centre);
}

int horizontal_axis_height(const std::string& label, double text) {
  return rounded((label.empty() ? 1.8 : 3.4) * text);
}

}  // namespace vitascope::drawing
