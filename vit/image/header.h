#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "vit/file.h"
#include "vit/image/picture.h"

/// \file
/// What can be known of an image file before decoding it. Nothing here allocates more than the
/// header itself, so that a file that claims 60000 x 60000 pixels is refused at no cost.
namespace vitascope::image {

/// What a file is, by its content.
enum class Format { jpeg, png, gif, webp, tiff, bmp, heif, avif, unknown };

/// The name that people know: "JPEG", "PNG", ...
const char* format_name(Format format);

/// What the beginning of a file tells of its picture.
struct Header {
  Format format = Format::unknown;
  Size stored;  ///< before orientation; {0, 0} for formats whose decoder must tell (HEIF, AVIF)
  int orientation = 1;  ///< EXIF orientation 1 to 8; 1 for HEIF and AVIF, whose decoder turns them
  int bit_depth = 8;    ///< bits a channel
  int channels = 3;     ///< as stored: 1 gray, 2 gray + alpha, 3, 4 (RGBA or CMYK)
};

/// Recognises the format by content, never by extension. `unknown` when it is none of them.
Format sniff(Bytes file);

/// Reads the header of an image file, and walks its structure to the end of its pixels.
/// \throws InputError (naming `path` and the byte offset) when the content is not an image or the
///         file is cut short (JPEG: before its first scan) or contradicts itself
Header read_header(Bytes file, const std::string& path);

/// Orientation (1 to 8) from an EXIF block ("II*\0" or "MM\0*" onwards); 1 when it says nothing
/// usable. Never reads outside `tiff`.
int exif_orientation(Bytes tiff);

}  // namespace vitascope::image
