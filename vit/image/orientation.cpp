#include "vit/image/orientation.h"

#include <algorithm>
#include <utility>

namespace vitascope::image {
namespace {

/// Orientations 5 to 8 exchange the axes.
bool transposes(int orientation) { return orientation >= 5; }

/// Whether the stored picture's columns, then rows, run against the upright one's.
bool right_to_left(int orientation) {
  return orientation == 2 || orientation == 3 || orientation == 7 || orientation == 8;
}
bool bottom_to_top(int orientation) {
  return orientation == 3 || orientation == 4 || orientation == 6 || orientation == 7;
}

}  // namespace

void apply_orientation(Picture& picture, int orientation) {
  picture.stored = picture.size;
  picture.orientation = orientation;
  if (orientation <= 1 || orientation > 8) return;
  const Size stored = picture.size;
  if (transposes(orientation)) std::swap(picture.size.width, picture.size.height);

  // The stored pixel of an upright one is origin + x * step_x + y * step_y.
  const std::ptrdiff_t row = static_cast<std::ptrdiff_t>(stored.width) * 3;
  const std::ptrdiff_t across = right_to_left(orientation) ? -3 : 3;
  const std::ptrdiff_t down = bottom_to_top(orientation) ? -row : row;
  const std::ptrdiff_t step_x = transposes(orientation) ? down : across;
  const std::ptrdiff_t step_y = transposes(orientation) ? across : down;
  const std::uint8_t* origin = picture.rgb.data() + (right_to_left(orientation) ? row - 3 : 0) +
                               (bottom_to_top(orientation) ? (stored.height - 1) * row : 0);

  std::vector<std::uint8_t> turned(picture.rgb.size());
  const Size size = picture.size;
  constexpr int kTile = 32;  // both sides of a tile stay in the cache
  for (int top = 0; top < size.height; top += kTile)
    for (int left = 0; left < size.width; left += kTile)
      for (int y = top; y < std::min(top + kTile, size.height); ++y) {
        const std::uint8_t* from = origin + y * step_y + left * step_x;
        std::uint8_t* to = &turned[(static_cast<std::size_t>(y) * size.width + left) * 3];
        for (int x = left; x < std::min(left + kTile, size.width); ++x, from += step_x, to += 3) {
          to[0] = from[0];
          to[1] = from[1];
          to[2] = from[2];
        }
      }
  picture.rgb = std::move(turned);
}

void upright_to_stored(int orientation, Size stored, double x, double y, double& stored_x,
                       double& stored_y) {
  if (transposes(orientation)) std::swap(x, y);
  stored_x = right_to_left(orientation) ? stored.width - x : x;
  stored_y = bottom_to_top(orientation) ? stored.height - y : y;
}

}  // namespace vitascope::image
