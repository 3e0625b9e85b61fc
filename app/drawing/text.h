#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "app/drawing/canvas.h"

/// \file
/// Text in any language that the font knows, with FreeType. Sizes and positions are in pixels; a
/// line of text stands on its baseline.
namespace vitascope::drawing {

/// A point with fractions of a pixel: (0, 0) is the top left corner of the top left pixel.
struct Point {
  double x = 0, y = 0;
  bool operator==(const Point&) const = default;
};

/// Which end of a text a position means.
enum class Align { left, centre, right };

/// A scalable font. A character that it lacks is drawn as an empty box; bytes that are not UTF-8
/// and control characters become U+FFFD. Without a font there is nothing to measure and to draw.
/// Copies share one FreeType face, which two threads must not use at once.
class Font {
 public:
  /// The font that VITASCOPE_FONT names, else DejaVu Sans where distributions put it, else none.
  /// \throws UsageError when VITASCOPE_FONT names no usable font
  static Font find();

  /// No font: all widths are 0 and nothing is drawn.
  Font() = default;
  /// \throws InputError when `path` is no TrueType or OpenType font that can be scaled
  explicit Font(const std::string& path);

  bool present() const { return face_ != nullptr; }
  /// What a person should know when there is no font; empty otherwise.
  std::string warning() const;

  double width(std::string_view text, double size) const;
  /// From one baseline to the next: 1.4 times the size, as for running text.
  static double line_height(double size) { return 1.4 * size; }
  /// Height of a capital letter, to centre a line on something.
  double capital_height(double size) const;

  /// `text`, or as much of it as fits into `width` together with an ellipsis; empty when not even
  /// that fits.
  std::string shortened(std::string_view text, double size, double width) const;
  /// Lines of at most `width`, broken at spaces; a word that is too long is broken inside.
  std::vector<std::string> wrapped(std::string_view text, double size, double width) const;

  /// Draws on the baseline through `at`, inside `clip` only.
  void draw(Canvas& canvas, const Area& clip, Point at, std::string_view text, double size,
            Colour colour, Align align = Align::left) const;
  void draw(Canvas& canvas, Point at, std::string_view text, double size, Colour colour,
            Align align = Align::left) const {
    draw(canvas, canvas.area(), at, text, size, colour, align);
  }

 private:
  class Face;
  std::shared_ptr<Face> face_;
};

}  // namespace vitascope::drawing
