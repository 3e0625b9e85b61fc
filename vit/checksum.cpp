#include "vit/checksum.h"

#include <zlib.h>

namespace vitascope {

std::uint32_t crc32_of(Bytes bytes, std::uint32_t before) {
  if (bytes.empty()) return before;  // zlib begins anew where there are no bytes
  return static_cast<std::uint32_t>(
      ::crc32_z(before, reinterpret_cast<const Bytef*>(bytes.data()), bytes.size()));
}

std::uint32_t crc32_of(std::string_view text, std::uint32_t before) {
  return crc32_of(std::as_bytes(std::span(text)), before);
}

}  // namespace vitascope
