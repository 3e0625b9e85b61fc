#include <algorithm>

#include "vit/image/byte_reader.h"
#include "vit/image/format_headers.h"

namespace vitascope::image {
namespace {

struct Chunk {
  std::string_view type;
  std::uint64_t at = 0;  ///< of its name
  Bytes data;

  std::uint64_t after() const { return at + 8 + data.size() + (data.size() & 1); }
};

Chunk chunk_at(const ByteReader& reader, std::uint64_t at) {
  const Bytes name = reader.part(at, 4);
  return {{reinterpret_cast<const char*>(name.data()), 4},
          at,
          reader.part(at + 8, reader.u32_little(at + 4))};
}

Size lossy_size(const ByteReader& reader, const Chunk& chunk) {
  if (chunk.data.size() < 10 || !reader.has(chunk.at + 11, "\x9d\x01\x2a"))
    reader.fail(chunk.at, "its VP8 data doesn't begin with a key frame");
  return {reader.u16_little(chunk.at + 14) & 0x3FFF, reader.u16_little(chunk.at + 16) & 0x3FFF};
}

Size lossless_size(const ByteReader& reader, const Chunk& chunk) {
  if (chunk.data.size() < 5 || reader.u8(chunk.at + 8) != 0x2F)
    reader.fail(chunk.at, "its VP8L data has a wrong signature");
  const std::uint32_t bits = reader.u32_little(chunk.at + 9);
  return {static_cast<int>(bits & 0x3FFF) + 1, static_cast<int>(bits >> 14 & 0x3FFF) + 1};
}

/// Where the RIFF container ends, which must lie inside the file.
std::uint64_t riff_end(const ByteReader& reader) {
  const std::uint64_t end = 8ull + reader.u32_little(4);
  if (end > reader.size())
    reader.fail(4, fmt::format("it is cut short: it says that it has {} bytes, but has {}", end,
                               reader.size()));
  return end;
}

}  // namespace

Header read_webp_header(Bytes file, const std::string& path) {
  const ByteReader reader(file, path, "WebP");
  Header header;
  Bytes exif;
  Bytes xmp;
  bool picture = false;
  const std::uint64_t end = riff_end(reader);
  for (std::uint64_t at = 12; at + 8 <= end;) {
    const Chunk chunk = chunk_at(reader, at);
    const bool first = at == 12;
    at = chunk.after();
    if (chunk.type == "VP8X") {
      if (!first || chunk.data.size() < 10) reader.fail(chunk.at, "its VP8X chunk is misplaced");
      header.stored = {static_cast<int>(reader.u24_little(chunk.at + 12)) + 1,
                       static_cast<int>(reader.u24_little(chunk.at + 15)) + 1};
      header.channels = reader.u8(chunk.at + 8) & 0x10 ? 4 : 3;
    } else if (chunk.type == "VP8 " || chunk.type == "VP8L") {
      const Size size =
          chunk.type == "VP8 " ? lossy_size(reader, chunk) : lossless_size(reader, chunk);
      if (header.stored.width != 0 && size != header.stored)
        reader.fail(chunk.at, "its picture and its canvas differ in size");
      header.stored = size;
      picture = true;
    } else if (chunk.type == "ANMF") {
      picture = true;
    } else if (chunk.type == "EXIF") {
      // Some writers keep JPEG's prefix.
      exif = chunk.data.subspan(reader.has(chunk.at + 8, std::string_view("Exif\0\0", 6)) ? 6 : 0);
    } else if (chunk.type == "XMP ") {
      xmp = chunk.data;
    }
  }
  if (!picture) reader.fail(12, "it holds no picture");
  if (header.stored.width == 0 || header.stored.height == 0)
    reader.fail(12, "its header says that it has no pixels");
  header.orientation = orientation(exif, xmp);
  return header;
}

std::optional<WebpFrame> first_webp_frame(Bytes file, const std::string& path) {
  const ByteReader reader(file, path, "WebP");
  const std::uint64_t end = riff_end(reader);
  Size canvas;
  for (std::uint64_t at = 12; at + 8 <= end;) {
    const Chunk chunk = chunk_at(reader, at);
    at = chunk.after();
    if (chunk.type == "VP8X")
      canvas = {static_cast<int>(reader.u24_little(chunk.at + 12)) + 1,
                static_cast<int>(reader.u24_little(chunk.at + 15)) + 1};
    if (chunk.type != "ANMF") continue;
    if (chunk.data.size() < 24) reader.fail(chunk.at, "its first frame is too short");
    WebpFrame frame;
    frame.left = static_cast<int>(2 * reader.u24_little(chunk.at + 8));
    frame.top = static_cast<int>(2 * reader.u24_little(chunk.at + 11));
    frame.size = {static_cast<int>(reader.u24_little(chunk.at + 14)) + 1,
                  static_cast<int>(reader.u24_little(chunk.at + 17)) + 1};
    if (frame.left + frame.size.width > canvas.width ||
        frame.top + frame.size.height > canvas.height)
      reader.fail(chunk.at, "its first frame sticks out of its canvas");
    // Alpha is dropped anyway, so the picture's own chunk makes a file.
    for (std::uint64_t part = chunk.at + 24; part + 8 <= chunk.after();) {
      const Chunk inner = chunk_at(reader, part);
      part = inner.after();
      if (inner.type != "VP8 " && inner.type != "VP8L") continue;
      if ((inner.type == "VP8 " ? lossy_size(reader, inner) : lossless_size(reader, inner)) !=
          frame.size)
        reader.fail(inner.at, "its first frame and its picture differ in size");
      const auto length = static_cast<std::uint32_t>(inner.after() - inner.at + 4);
      for (const char letter : {'R', 'I', 'F', 'F'}) frame.file.push_back(std::byte(letter));
      for (int shift = 0; shift < 32; shift += 8) frame.file.push_back(std::byte(length >> shift));
      for (const char letter : {'W', 'E', 'B', 'P'}) frame.file.push_back(std::byte(letter));
      const Bytes whole = reader.part(inner.at, inner.after() - inner.at);
      frame.file.insert(frame.file.end(), whole.begin(), whole.end());
      return frame;
    }
    reader.fail(chunk.at, "its first frame holds no picture");
  }
  return std::nullopt;
}

}  // namespace vitascope::image
