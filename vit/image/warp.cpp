#include "vit/image/warp.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <numbers>
#include <optional>
#include <vector>

namespace vitascope::image {
namespace {

/// A point of the input, in pixels from its corner.
struct Point {
  double x, y;
};

/// Pillow's fixed point of 16 bits, in which nearest neighbours are stepped.
std::int64_t fixed(double value) {
  return static_cast<std::int64_t>(std::floor(value * 65536.0 + 0.5));
}

bool inside(std::int64_t x, std::int64_t y, Size size) {
  return x >= 0 && x < size.width && y >= 0 && y < size.height;
}

void warp_nearest(const std::vector<std::uint8_t>& in, Picture& picture, const AffineMatrix& m) {
  const Size size = picture.size;
  std::int64_t row_x = fixed(m[2] + m[0] * 0.5 + m[1] * 0.5);
  std::int64_t row_y = fixed(m[5] + m[3] * 0.5 + m[4] * 0.5);
  std::uint8_t* out = picture.rgb.data();
  for (int y = 0; y < size.height; ++y, row_x += fixed(m[1]), row_y += fixed(m[4])) {
    std::int64_t at_x = row_x;
    std::int64_t at_y = row_y;
    for (int x = 0; x < size.width; ++x, at_x += fixed(m[0]), at_y += fixed(m[3]), out += 3)
      if (inside(at_x >> 16, at_y >> 16, size))
        std::memcpy(out, &in[((at_y >> 16) * size.width + (at_x >> 16)) * 3], 3);
  }
}

double between(double a, double b, double share) { return a + (b - a) * share; }

void sample_bilinear(const std::vector<std::uint8_t>& in, Size size, Point at, std::uint8_t* out) {
  if (at.x < 0 || at.x >= size.width || at.y < 0 || at.y >= size.height) return;
  const int x = static_cast<int>(std::floor(at.x - 0.5));
  const int y = static_cast<int>(std::floor(at.y - 0.5));
  const double dx = at.x - 0.5 - x;
  const double dy = at.y - 0.5 - y;
  const auto column = [&](int i) { return std::clamp(i, 0, size.width - 1) * std::size_t{3}; };
  const std::size_t stride = static_cast<std::size_t>(size.width) * 3;
  const std::uint8_t* upper = &in[std::clamp(y, 0, size.height - 1) * stride];
  const std::uint8_t* lower = y + 1 < size.height ? &in[(y + 1) * stride] : upper;
  for (std::size_t c = 0; c < 3; ++c) {
    const double above = between(upper[column(x) + c], upper[column(x + 1) + c], dx);
    const double below = between(lower[column(x) + c], lower[column(x + 1) + c], dx);
    out[c] = static_cast<std::uint8_t>(between(above, below, dy));
  }
}

void warp_bilinear(const std::vector<std::uint8_t>& in, Picture& picture, const AffineMatrix& m) {
  std::uint8_t* out = picture.rgb.data();
  for (int y = 0; y < picture.size.height; ++y)
    for (int x = 0; x < picture.size.width; ++x, out += 3) {
      const double px = x + 0.5;
      const double py = y + 0.5;
      sample_bilinear(in, picture.size,
                      {m[0] * px + m[1] * py + m[2], m[3] * px + m[4] * py + m[5]}, out);
    }
}

}  // namespace

void warp(Picture& picture, const AffineMatrix& matrix, const WarpOptions& options) {
  const std::vector<std::uint8_t> in = picture.rgb;
  for (std::size_t i = 0; i < picture.rgb.size(); ++i) picture.rgb[i] = options.fill[i % 3];
  if (options.sampling == Sampling::nearest) {
    warp_nearest(in, picture, matrix);
  } else {
    warp_bilinear(in, picture, matrix);
  }
}

AffineMatrix rotation(Size size, double degrees) {
  const double angle = -degrees * std::numbers::pi / 180;
  // Pillow rounds to 15 decimals, which makes the sine of 30 degrees a half.
  const double cosine = std::nearbyint(std::cos(angle) * 1e15) / 1e15;
  const double sine = std::nearbyint(std::sin(angle) * 1e15) / 1e15;
  const double x = size.width / 2.0;
  const double y = size.height / 2.0;
  return {cosine, sine, cosine * -x + sine * -y + x, -sine, cosine, -sine * -x + cosine * -y + y};
}

AffineMatrix shear_x(double slope) { return {1, slope, 0, 0, 1, 0}; }

AffineMatrix shear_y(double slope) { return {1, 0, 0, slope, 1, 0}; }

AffineMatrix translation(int right, int down) {
  return {1, 0, -static_cast<double>(right), 0, 1, -static_cast<double>(down)};
}

}  // namespace vitascope::image
