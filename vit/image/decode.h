#pragma once

#include <cstdint>
#include <string>

#include "vit/file.h"
#include "vit/image/picture.h"

/// \file
/// File -> upright 8-bit RGB, with the bytes that Pillow gives.
namespace vitascope::image {

/// What a decoder may take.
struct DecodeOptions {
  double max_megapixels = 180;   ///< refused from the header above this
  bool allow_truncated = false;  ///< a damaged JPEG becomes a warning instead of an error
  int jpeg_reduction = 1;  ///< 2, 4, 8: a JPEG comes out that much smaller (sides rounded up), for
                           ///< a fraction of the work; other formats, and 1, at their full size
};

/// Decodes the photo at `path`; see decode_bytes.
Picture decode(const std::string& path, const DecodeOptions& options = {});

/// Decodes by content (JPEG, PNG, GIF's first frame, WebP, TIFF, BMP, HEIC, AVIF), drops alpha,
/// turns by EXIF orientation. CMYK: R = (255-C)(255-K)/255 after undoing Adobe's inversion.
/// 16-bit gray: round(v / 257); 16-bit RGB: the high byte.
/// \throws InputError that says what the file is and what is wrong with it
Picture decode_bytes(Bytes file, const std::string& path, const DecodeOptions& options = {});

}  // namespace vitascope::image
