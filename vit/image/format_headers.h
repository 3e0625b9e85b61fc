#pragma once

#include <array>
#include <optional>
#include <string>
#include <vector>

#include "vit/image/header.h"

/// \file
/// One reader of headers a format; read_header picks by content. Each walks the structure of its
/// format as far as the picture's data goes, so that a file that was cut short is refused before a
/// lenient decoder makes up the rest, and each throws InputError as read_header says.
namespace vitascope::image {

/// Segments up to the first scan.
Header read_jpeg_header(Bytes file, const std::string& path);
/// Chunks up to IEND, without their checksums (see essential_png).
Header read_png_header(Bytes file, const std::string& path);
/// The screen and the first frame, whose data must be complete.
Header read_gif_header(Bytes file, const std::string& path);
/// Chunks of the RIFF container, which must be complete.
Header read_webp_header(Bytes file, const std::string& path);
/// The first directory, whose values and pixels must lie inside the file.
Header read_tiff_header(Bytes file, const std::string& path);
/// Both headers; pixels that are not compressed must be complete.
Header read_bmp_header(Bytes file, const std::string& path);
/// The outer boxes, which must be complete; sizes are left to the decoder, which reads them first.
Header read_heif_header(Bytes file, const std::string& path);

/// Orientation (1 to 8) from an EXIF block or, where that has no such tag, from an XMP packet's
/// tiff:Orientation, as photo editors write it. Either may be empty.
int orientation(Bytes exif, Bytes xmp);

/// A PNG reduced to what its pixels need: IHDR, PLTE, IDAT and IEND, with their checksums checked.
/// Profiles, texts and transparency don't reach libpng, which would comment on them on stderr.
/// \throws InputError when a checksum is wrong; expects a file that read_png_header accepted
std::vector<std::byte> essential_png(Bytes file, const std::string& path);

/// The first frame of an animated WebP as a still WebP file, and where it lies on the canvas.
struct WebpFrame {
  std::vector<std::byte> file;
  int left = 0, top = 0;  ///< in pixels of the canvas
  Size size;
};

/// \return nothing when the WebP isn't animated; expects a file that read_webp_header accepted
/// \throws InputError when the frame contradicts the canvas
std::optional<WebpFrame> first_webp_frame(Bytes file, const std::string& path);

/// Where the value of the TIFF's orientation tag (0x112) lies in the file; nothing when it has
/// none. Expects a file that read_tiff_header accepted.
std::optional<std::size_t> tiff_orientation_offset(Bytes file, const std::string& path);

/// Where TIFF's ExtraSamples tag (338) holds what its first extra channel means (a SHORT: 0
/// nothing, 1 alpha multiplied into the colours, 2 alpha beside them); nothing when it has none.
std::optional<std::size_t> tiff_alpha_offset(Bytes file, const std::string& path);

/// What a BMP's headers say. Compression: 0 none, 1 RLE8, 2 RLE4, 3 none with bit masks.
struct BmpLayout {
  Size size;
  bool top_down = false;
  int bits = 0;
  int compression = 0;
  std::array<std::uint32_t, 3> masks{};  ///< of red, green and blue, for 16 and 32 bits
  Bytes palette;                         ///< blue, green, red (and a filler) an entry
  int palette_step = 4;                  ///< bytes an entry
  Bytes pixels;                          ///< all of them where they are not compressed

  /// Rows are padded to four bytes.
  std::size_t row_bytes() const {
    return (static_cast<std::size_t>(size.width) * bits + 31) / 32 * 4;
  }
};

/// \throws InputError as read_header
BmpLayout read_bmp_layout(Bytes file, const std::string& path);

}  // namespace vitascope::image
