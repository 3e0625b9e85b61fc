#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "vit/image/picture.h"

/// \file
/// A picture that the Python scripts below tests/golden/generate draw in the same way.
namespace vitascope::tests {

/// Top bytes of x <- 1664525 x + 1013904223 (mod 2^32), stretched to saturate often.
inline std::vector<std::uint8_t> noise(image::Size size) {
  std::vector<std::uint8_t> rgb(static_cast<std::size_t>(size.width) * size.height * 3);
  std::uint32_t x = static_cast<std::uint32_t>(size.width) * 65537 + size.height;
  for (auto& byte : rgb) {
    x = 1664525 * x + 1013904223;
    byte = static_cast<std::uint8_t>(std::clamp(2 * static_cast<int>(x >> 24) - 128, 0, 255));
  }
  return rgb;
}

/// The same as an upright picture.
inline image::Picture noise_picture(image::Size size) {
  image::Picture picture;
  picture.rgb = noise(size);
  picture.size = picture.stored = size;
  picture.path = "noise";
  return picture;
}

}  // namespace vitascope::tests
