#include "vit/image/colour.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <utility>

namespace vitascope::image {
namespace {

using Table = std::array<std::uint8_t, 256>;
using Histogram = std::array<std::int64_t, 256>;

std::size_t pixel_count(const Picture& picture) {
  return static_cast<std::size_t>(picture.size.width) * picture.size.height;
}

/// Gray of a pixel in fixed point, as Pillow's conversion to L.
std::uint8_t gray(const std::uint8_t* pixel) {
  return static_cast<std::uint8_t>(
      (pixel[0] * 19595 + pixel[1] * 38470 + pixel[2] * 7471 + 0x8000) >> 16);
}

/// from + factor * (to - from), cut off to a byte as Pillow's blend does.
std::uint8_t mix(int from, int to, float factor) {
  const float value = static_cast<float>(from) + factor * static_cast<float>(to - from);
  return static_cast<std::uint8_t>(std::clamp(value, 0.0f, 255.0f));
}

void map_levels(Picture& picture, const Table& table) {
  for (std::uint8_t& level : picture.rgb) level = table[level];
}

/// A table of its own for each channel, made of its histogram.
template <typename MakeTable>
void map_channels(Picture& picture, const MakeTable& make_table) {
  for (std::size_t channel = 0; channel < 3; ++channel) {
    Histogram histogram{};
    for (std::size_t i = channel; i < picture.rgb.size(); i += 3) ++histogram[picture.rgb[i]];
    const Table table = make_table(histogram);
    for (std::size_t i = channel; i < picture.rgb.size(); i += 3)
      picture.rgb[i] = table[picture.rgb[i]];
  }
}

template <typename Level>
Table table_of(const Level& level) {
  Table table{};
  for (int i = 0; i < 256; ++i) table[i] = static_cast<std::uint8_t>(level(i));
  return table;
}

Table stretching(const Histogram& histogram) {
  int low = 0;
  int high = 255;
  while (low < 255 && histogram[low] == 0) ++low;
  while (high > 0 && histogram[high] == 0) --high;
  if (high <= low) return table_of([](int i) { return i; });
  const double scale = 255.0 / (high - low);
  const double offset = -low * scale;
  return table_of([&](int i) { return std::clamp(static_cast<int>(i * scale + offset), 0, 255); });
}

Table equalizing(const Histogram& histogram) {
  std::int64_t total = 0;
  std::int64_t last = 0;
  for (const std::int64_t count : histogram) {
    total += count;
    if (count > 0) last = count;
  }
  const std::int64_t step = (total - last) / 255;
  if (step == 0) return table_of([](int i) { return i; });
  std::int64_t sum = step / 2;
  return table_of([&](int i) {
    const std::int64_t level = sum / step;
    sum += histogram[i];
    return std::min<std::int64_t>(level, 255);
  });
}

/// Pillow's conversion to HSV, hue and saturation cut off to bytes, hue turned, and back.
void turn_hue(std::uint8_t* pixel, std::uint8_t turn) {
  const int r = pixel[0], g = pixel[1], b = pixel[2];
  const int most = std::max({r, g, b});
  const int least = std::min({r, g, b});
  if (most == least) return;  // no saturation, no hue
  const auto range = static_cast<float>(most - least);
  const float rc = static_cast<float>(most - r) / range;
  const float gc = static_cast<float>(most - g) / range;
  const float bc = static_cast<float>(most - b) / range;
  float hue = r == most   ? bc - gc
              : g == most ? static_cast<float>(2.0 + rc - bc)
                          : static_cast<float>(4.0 + gc - rc);
  hue = static_cast<float>(std::fmod(hue / 6.0 + 1.0, 1.0));
  const float saturation = range / static_cast<float>(most);
  const auto h = static_cast<std::uint8_t>(static_cast<int>(hue * 255.0) + turn);
  const auto s = static_cast<std::uint8_t>(saturation * 255.0);
  if (s == 0) {
    std::fill(pixel, pixel + 3, static_cast<std::uint8_t>(most));
    return;
  }
  const double sector = h * 6.0 / 255.0;
  const int i = static_cast<int>(sector);
  const auto f = static_cast<float>(sector - i);
  const auto fs = static_cast<float>(s / 255.0);
  const auto level = [&](double share) {
    return static_cast<std::uint8_t>(std::clamp(std::round(most * share), 0.0, 255.0));
  };
  const std::uint8_t v = static_cast<std::uint8_t>(most);
  const std::uint8_t p = level(1.0 - fs);
  const std::uint8_t q = level(1.0 - fs * f);
  const std::uint8_t t = level(1.0 - fs * (1.0 - f));
  const std::uint8_t turned[6][3] = {{v, t, p}, {q, v, p}, {p, v, t},
                                     {p, q, v}, {t, p, v}, {v, p, q}};
  std::copy_n(turned[i % 6], 3, pixel);
}

}  // namespace

void adjust_brightness(Picture& picture, double factor) {
  const auto f = static_cast<float>(factor);
  map_levels(picture, table_of([f](int i) { return mix(0, i, f); }));
}

void adjust_contrast(Picture& picture, double factor) {
  double sum = 0;
  for (std::size_t i = 0; i < picture.rgb.size(); i += 3) sum += gray(&picture.rgb[i]);
  const int mean =
      static_cast<int>(std::floor(sum / static_cast<double>(pixel_count(picture)) + 0.5));
  const auto f = static_cast<float>(factor);
  map_levels(picture, table_of([=](int i) { return mix(mean, i, f); }));
}

void adjust_saturation(Picture& picture, double factor) {
  for (std::size_t i = 0; i < picture.rgb.size(); i += 3) {
    const std::uint8_t level = gray(&picture.rgb[i]);
    for (std::size_t c = 0; c < 3; ++c)
      picture.rgb[i + c] = mix(level, picture.rgb[i + c], static_cast<float>(factor));
  }
}

void adjust_hue(Picture& picture, double turn) {
  const auto steps = static_cast<std::uint8_t>(static_cast<int>(turn * 255));
  for (std::size_t i = 0; i < picture.rgb.size(); i += 3) turn_hue(&picture.rgb[i], steps);
}

void adjust_sharpness(Picture& picture, double factor) {
  const auto [width, height] = picture.size;
  const std::size_t row = static_cast<std::size_t>(width) * 3;
  const std::vector<std::uint8_t> in = picture.rgb;
  const auto f = static_cast<float>(factor);
  for (int y = 1; y + 1 < height; ++y)
    for (std::size_t x = 3; x + 3 < row; ++x) {
      const std::uint8_t* at = &in[y * row + x];
      int sum = 4 * at[0];  // the middle weighs 5 of 13
      for (const std::uint8_t* line : {at - row, at, at + row}) sum += line[-3] + line[0] + line[3];
      picture.rgb[y * row + x] = mix((2 * sum + 13) / 26, at[0], f);
    }
}

void to_gray(Picture& picture) {
  for (std::size_t i = 0; i < picture.rgb.size(); i += 3)
    std::fill_n(&picture.rgb[i], 3, gray(&picture.rgb[i]));
}

void solarize(Picture& picture, double threshold) {
  map_levels(picture, table_of([=](int i) { return i < threshold ? i : 255 - i; }));
}

void posterize(Picture& picture, int bits) {
  const int mask = ~((1 << (8 - std::clamp(bits, 1, 8))) - 1);
  map_levels(picture, table_of([=](int i) { return i & mask; }));
}

void stretch_contrast(Picture& picture) { map_channels(picture, stretching); }

void equalize(Picture& picture) { map_channels(picture, equalizing); }

void flip_horizontally(Picture& picture) {
  const auto [width, height] = picture.size;
  for (int y = 0; y < height; ++y) {
    std::uint8_t* row = &picture.rgb[static_cast<std::size_t>(y) * width * 3];
    for (int left = 0, right = width - 1; left < right; ++left, --right)
      std::swap_ranges(row + 3 * left, row + 3 * left + 3, row + 3 * right);
  }
}

}  // namespace vitascope::image
