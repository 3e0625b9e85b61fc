#include <algorithm>
#include <array>

#include "vit/image/resize_passes.h"

namespace vitascope::image {
namespace {

constexpr std::int32_t kHalf = 1 << (kWeightBits - 1);

}  // namespace

void horizontal_baseline(const HorizontalPass& pass) {
  const Coefficients& c = *pass.coefficients;
  std::uint8_t* out = pass.out;
  for (int y = 0; y < pass.count; ++y) {
    const std::uint8_t* row = pass.rows + y * pass.row_stride;
    for (std::size_t x = 0; x < c.first.size(); ++x, out += 3) {
      const std::uint8_t* in = row + static_cast<std::size_t>(c.first[x]) * 3;
      const std::int32_t* weight = &c.weight[x * c.stride];
      std::int32_t red = kHalf;
      std::int32_t green = kHalf;
      std::int32_t blue = kHalf;
      for (int k = 0; k < c.count[x]; ++k, in += 3) {
        red += in[0] * weight[k];
        green += in[1] * weight[k];
        blue += in[2] * weight[k];
      }
      out[0] = clip_to_byte(red);
      out[1] = clip_to_byte(green);
      out[2] = clip_to_byte(blue);
    }
  }
}

void vertical_baseline(const VerticalPass& pass) {
  constexpr std::size_t kBlock = 64;  // columns whose sums stay in registers or the cache
  for (std::size_t x = 0; x < pass.length; x += kBlock) {
    const std::size_t columns = std::min(kBlock, pass.length - x);
    std::array<std::int32_t, kBlock> sums;
    sums.fill(kHalf);
    for (int k = 0; k < pass.count; ++k) {
      const std::uint8_t* row = pass.rows + k * pass.row_stride + x;
      for (std::size_t i = 0; i < columns; ++i) sums[i] += row[i] * pass.weight[k];
    }
    for (std::size_t i = 0; i < columns; ++i) pass.out[x + i] = clip_to_byte(sums[i]);
  }
}

}  // namespace vitascope::image
