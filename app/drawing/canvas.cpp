#include "app/drawing/canvas.h"

#include <algorithm>
#include <cmath>

#include "app/drawing/theme.h"
#include "vit/image/resize.h"

namespace vitascope::drawing {
namespace {

std::uint8_t mixed(std::uint8_t under, std::uint8_t over, double alpha) {
  return static_cast<std::uint8_t>(std::lround(under + alpha * (over - under)));
}

}  // namespace

Colour blended(Colour under, Colour over, double alpha) {
  alpha = std::clamp(alpha, 0.0, 1.0);
  return {mixed(under.r, over.r, alpha), mixed(under.g, over.g, alpha),
          mixed(under.b, over.b, alpha)};
}

int luma(Colour colour) {
  // Pillow's integers: .299, .587 and .114 times 2^16, and a half to round.
  return (colour.r * 19595 + colour.g * 38470 + colour.b * 7471 + 0x8000) >> 16;
}

Canvas::Canvas(image::Size size, Colour paper) : size_(size) {
  rgb_.resize(offset(0, size.height));
  fill(area(), paper);
}

Canvas::Canvas(const image::Picture& picture) : size_(picture.size), rgb_(picture.rgb) {}

Colour Canvas::at(int x, int y) const {
  const std::uint8_t* pixel = rgb_.data() + offset(x, y);
  return {pixel[0], pixel[1], pixel[2]};
}

void Canvas::set(int x, int y, Colour colour) {
  if (!has(x, y)) return;
  std::uint8_t* pixel = rgb_.data() + offset(x, y);
  pixel[0] = colour.r;
  pixel[1] = colour.g;
  pixel[2] = colour.b;
}

void Canvas::blend(int x, int y, Colour colour, double alpha) {
  if (has(x, y)) set(x, y, blended(at(x, y), colour, alpha));
}

void Canvas::fill(const Area& wanted, Colour colour) {
  const Area part = intersection(wanted, area());
  for (int y = part.top; y < part.top + part.height; ++y)
    for (int x = part.left; x < part.left + part.width; ++x) set(x, y, colour);
}

void Canvas::frame(const Area& area, int width, Colour colour) {
  fill({area.left, area.top, area.width, width}, colour);
  fill({area.left, area.top + area.height - width, area.width, width}, colour);
  fill({area.left, area.top, width, area.height}, colour);
  fill({area.left + area.width - width, area.top, width, area.height}, colour);
}

void Canvas::draw(const Canvas& picture, int left, int top) {
  const Area part = intersection({left, top, picture.size_.width, picture.size_.height}, area());
  for (int y = part.top; y < part.top + part.height && part.width > 0; ++y) {
    const std::uint8_t* from = picture.rgb_.data() + picture.offset(part.left - left, y - top);
    std::copy_n(from, static_cast<std::size_t>(part.width) * 3, rgb_.data() + offset(part.left, y));
  }
}

Canvas Canvas::resized(image::Size size) const {
  if (size == size_) return *this;
  Canvas result;
  result.size_ = size;
  result.rgb_ = image::resize(rgb_.data(), size_, size, image::Filter::lanczos);
  return result;
}

Area intersection(const Area& a, const Area& b) {
  const int left = std::max(a.left, b.left);
  const int top = std::max(a.top, b.top);
  const int right = std::min(a.left + a.width, b.left + b.width);
  const int bottom = std::min(a.top + a.height, b.top + b.height);
  return {left, top, std::max(right - left, 0), std::max(bottom - top, 0)};
}

image::Size fitted(image::Size size, image::Size room) {
  const double scale = std::min(static_cast<double>(room.width) / size.width,
                                static_cast<double>(room.height) / size.height);
  const auto scaled = [&](int side, int most) {
    return std::clamp(rounded(side * scale), 1, std::max(most, 1));
  };
  return {scaled(size.width, room.width), scaled(size.height, room.height)};
}

Canvas stacked(const std::vector<Canvas>& pictures) {
  image::Size size;
  for (const Canvas& picture : pictures) {
    size.width = std::max(size.width, picture.size().width);
    size.height += picture.size().height;
  }
  Canvas result(size, kPaper);
  int top = 0;
  for (const Canvas& picture : pictures) {
    result.draw(picture, 0, top);
    top += picture.size().height;
  }
  return result;
}

}  // namespace vitascope::drawing
