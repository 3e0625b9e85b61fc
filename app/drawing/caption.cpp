#include "app/drawing/caption.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "app/drawing/theme.h"

namespace vitascope::drawing {
namespace {

constexpr int kLeastWidth = 320;
constexpr double kHeadline = 1.25;  ///< size of the headline, in sizes of the text

/// Lines of one size, from top to bottom.
struct Paragraph {
  std::vector<std::string> lines;
  double size;
  Colour colour;
};

std::vector<Paragraph> paragraphs(const Caption& caption, const Font& font, double size,
                                  double width) {
  std::vector<Paragraph> result;
  if (!font.present()) return result;
  result.push_back(
      {font.wrapped(caption.headline, kHeadline * size, width), kHeadline * size, kInk});
  for (const std::string& line : caption.lines) {
    result.push_back({font.wrapped(line, size, width), size, kMuted});
  }
  return result;
}

double height_of(const std::vector<Paragraph>& paragraphs) {
  double height = 0;
  for (const Paragraph& paragraph : paragraphs) {
    height += static_cast<double>(paragraph.lines.size()) * Font::line_height(paragraph.size);
  }
  return height;
}

}  // namespace

ColourScale scale_of(const Overlay& overlay, ColourMap colours) {
  return {colours, overlay.range, overlay.below, overlay.above};
}

std::vector<std::string> notes_on(const Overlay& overlay, const OverlayStyle& style) {
  std::vector<std::string> notes;
  if (overlay.constant) notes.emplace_back("The map has the same value everywhere.");
  if ((overlay.below || overlay.above) && !style.range) {
    notes.push_back(fmt::format("Colours are clipped at percentiles {:g} and {:g}.",
                                style.low_percentile, style.high_percentile));
  } else if (overlay.below || overlay.above) {
    notes.emplace_back("Colours are clipped at the ends of the shared scale.");
  }
  if (overlay.contour_area > 0) {
    notes.push_back(fmt::format("Contour: the highest values, {:.0f}% of what the network saw.",
                                100 * overlay.contour_area));
  }
  if (overlay.dimmed) notes.emplace_back("Dimmed: not seen by the network.");
  return notes;
}

Canvas with_caption(const Canvas& picture, const Caption& caption, const Font& font) {
  const image::Size size = picture.size();
  const int width = std::max(size.width, kLeastWidth);
  const double text = std::max(12.0, width / 46.0);
  const int margin = rounded(1.1 * text);
  const std::vector<Paragraph> lines = paragraphs(caption, font, text, width - 2 * margin);
  const int bar = caption.scale ? colour_bar_height(text) : 0;
  const int gap = bar > 0 && !lines.empty() ? rounded(0.7 * text) : 0;
  const int strip = rounded(height_of(lines)) + gap + bar + rounded(1.8 * text);
  Canvas result({width, size.height + strip}, kPaper);
  result.draw(picture, (width - size.width) / 2, 0);
  double y = size.height + 0.8 * text;
  for (const Paragraph& paragraph : lines) {
    for (const std::string& line : paragraph.lines) {
      y += Font::line_height(paragraph.size);
      font.draw(result, {static_cast<double>(margin), y - 0.35 * paragraph.size}, line,
                paragraph.size, paragraph.colour);
    }
  }
  if (caption.scale) {
    draw_colour_bar(result, margin, rounded(y) + gap, width - 2 * margin, *caption.scale, font,
                    text);
  }
  return result;
}

}  // namespace vitascope::drawing
