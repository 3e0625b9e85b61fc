#pragma once

#include <cmath>
#include <cstdint>
#include <vector>

#include "vit/image/picture.h"

/// \file
/// Pixels to draw on.
namespace vitascope::drawing {

/// 8-bit RGB, as in a picture file.
struct Colour {
  std::uint8_t r = 0, g = 0, b = 0;
  bool operator==(const Colour&) const = default;
};

/// Whole pixels: columns [left, left + width) of rows [top, top + height).
struct Area {
  int left = 0, top = 0, width = 0, height = 0;
  bool operator==(const Area&) const = default;
};

/// `under` seen through `over`: under + alpha (over - under), rounded; alpha from 0 to 1.
Colour blended(Colour under, Colour over, double alpha);

/// How bright a colour is to the eye, 0 to 255: ITU-R BT.601's luma, as Pillow's mode "L".
int luma(Colour colour);

/// A picture that can be drawn on. Whatever sticks out of it is left away.
class Canvas {
 public:
  Canvas() = default;
  Canvas(image::Size size, Colour paper);
  explicit Canvas(const image::Picture& picture);

  image::Size size() const { return size_; }
  Area area() const { return {0, 0, size_.width, size_.height}; }
  /// [height, width, 3], row by row without padding.
  const std::vector<std::uint8_t>& rgb() const { return rgb_; }

  /// The pixel at column x of row y, which must exist.
  Colour at(int x, int y) const;
  void set(int x, int y, Colour colour);
  void blend(int x, int y, Colour colour, double alpha);
  void fill(const Area& area, Colour colour);
  /// The rim of `area`, `width` pixels wide, inside it.
  void frame(const Area& area, int width, Colour colour);
  /// Copies `picture` so that its top left corner comes to (left, top).
  void draw(const Canvas& picture, int left, int top);
  /// The same picture in another size, with Pillow's Lanczos filter.
  Canvas resized(image::Size size) const;

 private:
  bool has(int x, int y) const { return x >= 0 && y >= 0 && x < size_.width && y < size_.height; }
  std::size_t offset(int x, int y) const {
    return (static_cast<std::size_t>(y) * static_cast<std::size_t>(size_.width) +
            static_cast<std::size_t>(x)) *
           3;
  }

  image::Size size_;
  std::vector<std::uint8_t> rgb_;
};

/// The nearest whole pixel.
inline int rounded(double pixels) { return static_cast<int>(std::lround(pixels)); }

/// The part of `a` that lies in `b`; width and height are 0 where none does.
Area intersection(const Area& a, const Area& b);

/// The largest size of the same aspect that fits into `room`; at least one pixel each way.
image::Size fitted(image::Size size, image::Size room);

/// Pictures one below the other, at the left edge of paper as wide as the widest.
Canvas stacked(const std::vector<Canvas>& pictures);

}  // namespace vitascope::drawing
