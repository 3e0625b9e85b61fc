#include "app/drawing/text.h"

#include <fmt/format.h>
#include <ft2build.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <string>

#include "vit/error.h"
#include "vit/text.h"
#include FT_FREETYPE_H
#include FT_OUTLINE_H

namespace vitascope::drawing {
namespace {

/// Where Debian and Ubuntu, Fedora, Arch, openSUSE, Alpine and Homebrew put the font.
constexpr const char* kPlaces[] = {
    "/usr/share/fonts/truetype/dejavu/DejaVuSans.ttf",
    "/usr/share/fonts/dejavu-sans-fonts/DejaVuSans.ttf",
    "/usr/share/fonts/TTF/DejaVuSans.ttf",
    "/usr/share/fonts/truetype/DejaVuSans.ttf",
    "/usr/share/fonts/dejavu/DejaVuSans.ttf",
    "/usr/local/share/fonts/DejaVuSans.ttf",
};

constexpr std::string_view kEllipsis = "\u2026";

/// The first character of `text`, which is shortened by it. Never empty text.
char32_t take(std::string_view& text) {
  const auto point = decode_utf8(text);
  text.remove_prefix(point ? point->length : 1);
  return point && !is_control(point->value) ? point->value : U'\uFFFD';
}

}  // namespace

/// FreeType's objects, and the characters of one text at one size.
class Font::Face {
 public:
  explicit Face(const std::string& path) {
    if (FT_Init_FreeType(&library_) != 0) throw FailureError("FreeType can't be started");
    const bool opened = FT_New_Face(library_, path.c_str(), 0, &face_) == 0;
    if (opened && FT_IS_SCALABLE(face_)) return;
    if (opened) FT_Done_Face(face_);
    FT_Done_FreeType(library_);
    throw InputError(path, "can't be read as a font; expected a TrueType or OpenType file");
  }
  ~Face() {
    FT_Done_Face(face_);
    FT_Done_FreeType(library_);
  }
  Face(const Face&) = delete;
  Face& operator=(const Face&) = delete;

  void set_size(double size) {
    size_ = std::clamp(size, 1.0, 2000.0);
    FT_Set_Char_Size(face_, 0, static_cast<FT_F26Dot6>(std::lround(size_ * 64)), 72, 72);
  }

  /// Loads a character and returns how far it moves the pen.
  double load(char32_t character) {
    const FT_UInt index = FT_Get_Char_Index(face_, character);
    // Hinted vertically only, so that letters keep their distances at every size.
    missing_ = index == 0 || FT_Load_Glyph(face_, index, FT_LOAD_TARGET_LIGHT) != 0;
    return missing_ ? std::round(0.7 * size_) : face_->glyph->linearHoriAdvance / 65536.0;
  }

  /// Draws the character that was loaded last, with the pen at `pen`.
  void draw(Canvas& canvas, const Area& clip, Point pen, Colour colour) {
    if (missing_) return draw_box(canvas, clip, pen, colour);
    FT_GlyphSlot slot = face_->glyph;
    const double whole = std::floor(pen.x);
    if (slot->format == FT_GLYPH_FORMAT_OUTLINE) {
      FT_Outline_Translate(&slot->outline, std::lround((pen.x - whole) * 64), 0);
    }
    if (FT_Render_Glyph(slot, FT_RENDER_MODE_NORMAL) != 0) return;
    const int left = static_cast<int>(whole) + slot->bitmap_left;
    const int top = static_cast<int>(std::lround(pen.y)) - slot->bitmap_top;
    draw_bitmap(canvas, clip, left, top, colour);
  }

  double capital_height() {
    load(U'H');
    return missing_ ? 0.7 * size_ : face_->glyph->metrics.horiBearingY / 64.0;
  }

 private:
  void draw_bitmap(Canvas& canvas, const Area& clip, int left, int top, Colour colour) const {
    const FT_Bitmap& bitmap = face_->glyph->bitmap;
    const Area part = intersection(
        clip, {left, top, static_cast<int>(bitmap.width), static_cast<int>(bitmap.rows)});
    for (int y = part.top; y < part.top + part.height; ++y) {
      const unsigned char* row =
          bitmap.buffer + static_cast<std::ptrdiff_t>(y - top) * bitmap.pitch;
      for (int x = part.left; x < part.left + part.width; ++x) {
        canvas.blend(x, y, colour, row[x - left] / 255.0);
      }
    }
  }

  void draw_box(Canvas& canvas, const Area& clip, Point pen, Colour colour) const {
    const int height = static_cast<int>(std::lround(0.7 * size_));
    const int line = std::max(1, static_cast<int>(std::lround(size_ / 16)));
    const int side = std::max(1, static_cast<int>(std::lround(size_ / 12)));
    Area box{static_cast<int>(std::lround(pen.x)) + side,
             static_cast<int>(std::lround(pen.y)) - height, height - 2 * side, height};
    if (intersection(box, clip) == box) canvas.frame(box, line, colour);
  }

  FT_Library library_ = nullptr;
  FT_Face face_ = nullptr;
  double size_ = 0;
  bool missing_ = false;
};

Font Font::find() {
  if (const char* named = std::getenv("VITASCOPE_FONT"); named != nullptr && *named != '\0') {
    try {
      return Font(named);
    } catch (const InputError& error) {
      throw UsageError(fmt::format("VITASCOPE_FONT: {}", error.what()));
    }
  }
  std::error_code ignored;
  for (const char* place : kPlaces) {
    if (std::filesystem::exists(place, ignored)) return Font(place);
  }
  return {};
}

Font::Font(const std::string& path) : face_(std::make_shared<Face>(path)) {}

std::string Font::warning() const {
  if (present()) return {};
  return "no font was found, so pictures carry no text; install DejaVu Sans (Debian and Ubuntu: "
         "fonts-dejavu-core) or name a font file in VITASCOPE_FONT";
}

double Font::width(std::string_view text, double size) const {
  if (!present()) return 0;
  face_->set_size(size);
  double width = 0;
  while (!text.empty()) width += face_->load(take(text));
  return width;
}

double Font::capital_height(double size) const {
  if (!present()) return 0;
  face_->set_size(size);
  return face_->capital_height();
}

std::string Font::shortened(std::string_view text, double size, double width) const {
  if (this->width(text, size) <= width) return std::string(text);
  const double room = width - this->width(kEllipsis, size);
  if (room < 0) return {};
  std::string_view rest = text;
  std::size_t fits = 0;
  double used = 0;
  while (!rest.empty()) {
    used += face_->load(take(rest));
    if (used > room) break;
    fits = text.size() - rest.size();
  }
  while (fits > 0 && text[fits - 1] == ' ') --fits;
  return std::string(text.substr(0, fits)) + std::string(kEllipsis);
}

std::vector<std::string> Font::wrapped(std::string_view text, double size, double width) const {
  std::vector<std::string> lines;
  if (present()) face_->set_size(size);
  while (!text.empty()) {
    std::string_view rest = text;
    std::size_t end = 0;    // of what fits
    std::size_t space = 0;  // the last place to break at
    double used = 0;
    while (!rest.empty()) {
      if (rest.front() == ' ') space = end;
      const char32_t character = take(rest);
      used += present() ? face_->load(character) : 0;
      if (used > width && end > 0 && character != U' ') break;
      end = text.size() - rest.size();
    }
    if (end < text.size() && space > 0) end = space;
    lines.emplace_back(text.substr(0, end));
    text.remove_prefix(end);
    while (!text.empty() && text.front() == ' ') text.remove_prefix(1);
  }
  return lines;
}

void Font::draw(Canvas& canvas, const Area& clip, Point at, std::string_view text, double size,
                Colour colour, Align align) const {
  if (!present()) return;
  if (align != Align::left) at.x -= width(text, size) * (align == Align::centre ? 0.5 : 1.0);
  face_->set_size(size);
  while (!text.empty()) {
    const double advance = face_->load(take(text));
    face_->draw(canvas, clip, at, colour);
    at.x += advance;
  }
}

}  // namespace vitascope::drawing
