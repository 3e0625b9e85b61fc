#include "vit/image/blur.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

namespace vitascope::image {
namespace {

constexpr int kPasses = 3;

/// A box of 2 radius + 1 whole pixels and a part of one at each end; the weights sum to 2^24.
struct Box {
  int radius;
  std::uint32_t whole, part;
};

Box box_of(double sigma) {
  const auto variance =
      static_cast<float>(static_cast<float>(sigma) * static_cast<float>(sigma) / kPasses);
  const auto length = static_cast<float>(std::sqrt(12.0 * variance + 1.0));
  const auto inner = static_cast<float>(std::floor((length - 1.0) / 2.0));
  auto rest = static_cast<float>((2 * inner + 1) * (inner * (inner + 1) - 3.0 * variance));
  rest = static_cast<float>(rest / (6 * (variance - (inner + 1) * (inner + 1))));
  const float radius = inner + rest;
  Box box{};
  box.radius = static_cast<int>(radius);
  box.whole = static_cast<std::uint32_t>(16777216.0f / (radius * 2 + 1));
  box.part = (16777216u - (box.radius * 2u + 1) * box.whole) / 2;
  return box;
}

/// One pass over a line of `count` values, `step` apart in `data`.
void blur_line(std::uint8_t* data, int count, std::size_t step, const Box& box,
               std::vector<std::uint8_t>& line) {
  for (int i = 0; i < count; ++i) line[i] = data[i * step];
  const auto at = [&](int i) -> std::uint32_t { return line[std::clamp(i, 0, count - 1)]; };
  std::uint32_t sum = 0;
  for (int i = -box.radius; i <= box.radius; ++i) sum += at(i);
  for (int i = 0; i < count; ++i) {
    const std::uint32_t ends = at(i - box.radius - 1) + at(i + box.radius + 1);
    data[i * step] =
        static_cast<std::uint8_t>((sum * box.whole + ends * box.part + (1u << 23)) >> 24);
    sum += at(i + box.radius + 1);
    sum -= at(i - box.radius);
  }
}

}  // namespace

void gaussian_blur(Picture& picture, double sigma) {
  if (!(sigma > 0)) return;
  const auto [width, height] = picture.size;
  const std::size_t row = static_cast<std::size_t>(width) * 3;
  const Box box = box_of(sigma);
  std::vector<std::uint8_t> line(std::max(width, height));
  for (int pass = 0; pass < kPasses; ++pass)
    for (int y = 0; y < height; ++y)
      for (std::size_t c = 0; c < 3; ++c) blur_line(&picture.rgb[y * row + c], width, 3, box, line);
  for (int pass = 0; pass < kPasses; ++pass)
    for (std::size_t x = 0; x < row; ++x) blur_line(&picture.rgb[x], height, row, box, line);
}

}  // namespace vitascope::image
