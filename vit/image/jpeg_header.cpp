#include "vit/image/byte_reader.h"
#include "vit/image/format_headers.h"

namespace vitascope::image {
namespace {

/// Whether the marker opens a frame: SOF0 to SOF15 without DHT, JPG and DAC, which lie among them.
bool is_frame(int marker) {
  return marker >= 0xC0 && marker <= 0xCF && marker != 0xC4 && marker != 0xC8 && marker != 0xCC;
}

void read_frame(const ByteReader& reader, std::uint64_t at, Header& header) {
  header.bit_depth = reader.u8(at + 2);
  header.stored = {reader.u16_big(at + 5), reader.u16_big(at + 3)};
  header.channels = reader.u8(at + 7);
  if (header.stored.width == 0 || header.stored.height == 0)
    reader.fail(at + 3, "its header says that it has no pixels");
}

}  // namespace

Header read_jpeg_header(Bytes file, const std::string& path) {
  const ByteReader reader(file, path, "JPEG");
  Header header;
  Bytes exif;
  Bytes xmp;
  for (std::uint64_t at = 2;;) {
    // Decoders skip stray bytes between segments, so this does, too.
    while (reader.u8(at) != 0xFF) ++at;
    while (reader.u8(at) == 0xFF) ++at;
    const int marker = reader.u8(at++);
    if (marker == 0 || marker == 0x01 || (marker >= 0xD0 && marker <= 0xD8)) continue;
    if (marker == 0xD9) reader.fail(at - 2, "it ends before its picture begins");
    const std::uint16_t length = reader.u16_big(at);
    if (length < 2) reader.fail(at, "a segment is shorter than its own length field");
    const Bytes body = reader.part(at, length).subspan(2);
    if (is_frame(marker)) {
      if (length < 9) reader.fail(at, "its frame header is too short");
      read_frame(reader, at, header);
    }
    if (marker == 0xE1 && exif.empty() && reader.has(at + 2, std::string_view("Exif\0\0", 6)) &&
        body.size() > 6)
      exif = body.subspan(6);
    constexpr std::string_view packet("http://ns.adobe.com/xap/1.0/\0", 29);
    if (marker == 0xE1 && reader.has(at + 2, packet) && body.size() > packet.size())
      xmp = body.subspan(packet.size());
    if (marker == 0xDA) break;
    at += length;
  }
  if (header.stored.width == 0) reader.fail(2, "it has no frame header");
  header.orientation = orientation(exif, xmp);
  return header;
}

}  // namespace vitascope::image
