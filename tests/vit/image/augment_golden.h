#pragma once

#include <zlib.h>

#include "tests/golden.h"
#include "tests/vit/image/noise.h"
#include "vit/json.h"

/// \file
/// The cases of tests/golden/augmented.json.
namespace vitascope::tests {

/// One section of the file.
inline Json augmented(const char* section) {
  return read_json(golden("augmented.json")).at(section);
}

inline image::Size size_of(const Json& value) {
  return {value.at(0).get<int>(), value.at(1).get<int>()};
}

/// The picture of a case: noise, or noise squeezed into 40 .. 167.
inline image::Picture picture_of(const Json& entry) {
  image::Picture picture = noise_picture(size_of(entry.at("size")));
  if (entry.value("dim", false))
    for (std::uint8_t& level : picture.rgb) level = static_cast<std::uint8_t>(level / 2 + 40);
  return picture;
}

inline std::uint32_t crc_of(const image::Picture& picture) {
  return static_cast<std::uint32_t>(crc32_z(0, picture.rgb.data(), picture.rgb.size()));
}

}  // namespace vitascope::tests
