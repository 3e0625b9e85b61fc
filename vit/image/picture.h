#pragma once

#include <cstdint>
#include <string>
#include <vector>

/// \file
/// A decoded photo.
namespace vitascope::image {

/// Width and height in pixels.
struct Size {
  int width = 0;
  int height = 0;
  bool operator==(const Size&) const = default;
};

/// An upright picture as 8-bit RGB.
struct Picture {
  std::vector<std::uint8_t> rgb;  ///< [height, width, 3], row by row without padding
  Size size;                      ///< after orientation; what a person sees
  Size stored;                    ///< as in the file, before orientation
  int orientation = 1;            ///< EXIF orientation that was undone, 1 to 8
  std::string path;               ///< where it came from
  std::string warning;            ///< what a lenient decoder had to forgive, or empty
};

}  // namespace vitascope::image
