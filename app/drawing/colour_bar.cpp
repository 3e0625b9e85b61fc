#include "app/drawing/colour_bar.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "app/drawing/theme.h"
#include "app/drawing/ticks.h"

namespace vitascope::drawing {
namespace {

int pixels(double length) { return std::max(1, rounded(length)); }

int bar_height(double text_size) { return pixels(0.8 * text_size); }

}  // namespace

int colour_bar_height(double text_size) { return bar_height(text_size) + pixels(1.5 * text_size); }

void draw_colour_bar(Canvas& canvas, int left, int top, int width, const ColourScale& scale,
                     const Font& font, double text_size) {
  const int height = bar_height(text_size);
  for (int x = 0; x < width; ++x) {
    const double part = scale.range.high > scale.range.low ? (x + 0.5) / width : 0.5;
    canvas.fill({left + x, top, 1, height}, colour(scale.colours, part));
  }
  const Point at{static_cast<double>(left), top + height + 1.25 * text_size};
  if (!(scale.range.high > scale.range.low)) {
    const std::string only = "everywhere " + short_number(scale.range.low);
    font.draw(canvas, {at.x + width / 2.0, at.y}, only, text_size, kMuted, Align::centre);
    return;
  }
  const std::string low = (scale.below ? "\u2264 " : "") + short_number(scale.range.low);
  const std::string high = (scale.above ? "\u2265 " : "") + short_number(scale.range.high);
  font.draw(canvas, at, low, text_size, kMuted);
  font.draw(canvas, {at.x + width, at.y}, high, text_size, kMuted, Align::right);
  double free = font.width(low, text_size) + text_size;  // from the left, where a number may begin
  const double end = width - font.width(high, text_size) - text_size;
  const Ticks ticks = round_ticks(scale.range, std::max(2, pixels(width / (6 * text_size))));
  for (const double value : ticks.values) {
    const double x = part_of(scale.range, value) * width;
    const std::string label = tick_label(value, ticks.step);
    const double half = font.width(label, text_size) / 2;
    if (x - half < free || x + half > end) continue;
    font.draw(canvas, {at.x + x, at.y}, label, text_size, kMuted, Align::centre);
    canvas.fill(
        {left + static_cast<int>(x), top + height, pixels(text_size / 16), pixels(0.2 * text_size)},
        kMuted);
    free = x + half + text_size;
  }
}

}  // namespace vitascope::drawing
