#include "vit/image/random_crop.h"

#include <algorithm>
#include <cmath>

namespace vitascope::image {
namespace {

/// Python's round(): half to even.
int rounded(double value) { return static_cast<int>(std::nearbyint(value)); }

}  // namespace

Region random_crop(Size size, const CropRange& range, RandomStream& random) {
  const double area = static_cast<double>(size.width) * size.height;
  for (int attempt = 0; attempt < 10; ++attempt) {
    const double target = area * random.uniform(range.least_area, range.most_area);
    const double aspect =
        std::exp(random.uniform(std::log(range.least_aspect), std::log(range.most_aspect)));
    const int width = rounded(std::sqrt(target * aspect));
    const int height = rounded(std::sqrt(target / aspect));
    if (width <= 0 || width > size.width || height <= 0 || height > size.height) continue;
    const int top = static_cast<int>(random.below(size.height - height + 1));
    const int left = static_cast<int>(random.below(size.width - width + 1));
    return {left, top, {width, height}};
  }
  Size part = size;
  const double aspect = static_cast<double>(size.width) / size.height;
  if (aspect < range.least_aspect) part.height = rounded(size.width / range.least_aspect);
  if (aspect > range.most_aspect) part.width = rounded(size.height * range.most_aspect);
  part = {std::clamp(part.width, 1, size.width), std::clamp(part.height, 1, size.height)};
  return {(size.width - part.width) / 2, (size.height - part.height) / 2, part};
}

Picture crop_resized(const Picture& picture, const Region& part, Size output, Filter filter) {
  // The pixels outside the part must not reach into it, so it is cut out before it is resized.
  const auto cut = resize_region(picture.rgb.data(), picture.size, picture.size, Filter::box, part);
  Picture result;
  result.path = picture.path;
  result.size = result.stored = output;
  result.rgb = resize(cut.data(), part.size, output, filter);
  return result;
}

Region scaled_part(const Region& part, Size from, Size to) {
  if (from == to) return part;
  const double across = static_cast<double>(to.width) / from.width;
  const double down = static_cast<double>(to.height) / from.height;
  // Each edge is rounded by itself, so that none is off by more than half a pixel.
  const int left = std::clamp(rounded(part.left * across), 0, to.width - 1);
  const int top = std::clamp(rounded(part.top * down), 0, to.height - 1);
  const int right = rounded((part.left + part.size.width) * across);
  const int bottom = rounded((part.top + part.size.height) * down);
  return {
      left,
      top,
      {std::clamp(right, left + 1, to.width) - left, std::clamp(bottom, top + 1, to.height) - top}};
}

}  // namespace vitascope::image
