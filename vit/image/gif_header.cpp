#include <algorithm>

#include "vit/image/byte_reader.h"
#include "vit/image/format_headers.h"

namespace vitascope::image {
namespace {

/// Bytes of a colour table whose size the low three bits of `flags` tell; 0 when bit 7 says none.
std::uint64_t palette_bytes(int flags) { return flags & 0x80 ? 3ull << ((flags & 7) + 1) : 0; }

/// The first byte after a chain of data sub-blocks.
std::uint64_t skip_blocks(const ByteReader& reader, std::uint64_t at) {
  while (const int length = reader.u8(at)) at += 1 + length;
  return at + 1;
}

}  // namespace

Header read_gif_header(Bytes file, const std::string& path) {
  const ByteReader reader(file, path, "GIF");
  Header header;
  header.stored = {reader.u16_little(6), reader.u16_little(8)};
  std::uint64_t at = 13 + palette_bytes(reader.u8(10));
  for (;;) {
    const int block = reader.u8(at++);
    if (block == 0x2C) break;
    if (block == 0x3B) reader.fail(at - 1, "it ends without a picture");
    if (block == 0x21) at = skip_blocks(reader, at + 1);
    // Anything else is filler, which readers skip.
  }
  const int right = reader.u16_little(at) + reader.u16_little(at + 4);
  const int bottom = reader.u16_little(at + 2) + reader.u16_little(at + 6);
  if (reader.u16_little(at + 4) == 0 || reader.u16_little(at + 6) == 0)
    reader.fail(at + 4, "its first frame has no pixels");
  // A frame that sticks out of the screen enlarges it.
  header.stored.width = std::max(header.stored.width, right);
  header.stored.height = std::max(header.stored.height, bottom);
  at += 9 + palette_bytes(reader.u8(at + 8));
  skip_blocks(reader, at + 1);
  return header;
}

}  // namespace vitascope::image
