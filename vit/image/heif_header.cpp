#include "vit/image/byte_reader.h"
#include "vit/image/format_headers.h"

namespace vitascope::image {

Header read_heif_header(Bytes file, const std::string& path) {
  const ByteReader reader(file, path, "HEIF");
  bool items = false;
  for (std::uint64_t at = 0; at < file.size();) {
    std::uint64_t length = reader.u32_big(at);
    if (length == 1)
      length = static_cast<std::uint64_t>(reader.u32_big(at + 8)) << 32 | reader.u32_big(at + 12);
    if (length == 0) length = file.size() - at;  // up to the end
    if (length < 8) reader.fail(at, "a box is shorter than its own header");
    reader.part(at, length);
    items = items || reader.has(at + 4, "meta");
    at += length;
  }
  if (!items) reader.fail(0, "it has no 'meta' box, so no picture");
  return {};
}

}  // namespace vitascope::image
