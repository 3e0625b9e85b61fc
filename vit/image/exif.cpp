#include <string_view>

#include "vit/image/format_headers.h"
#include "vit/image/header.h"

namespace vitascope::image {
namespace {

/// A value of `width` bytes at `at`; 0 when it lies beyond the end.
std::uint32_t value_at(Bytes bytes, std::uint64_t at, int width, bool big) {
  if (at > bytes.size() || bytes.size() - at < static_cast<std::size_t>(width)) return 0;
  std::uint32_t value = 0;
  for (int i = 0; i < width; ++i)
    value = value << 8 | std::to_integer<std::uint32_t>(bytes[at + (big ? i : width - 1 - i)]);
  return value;
}

/// The orientation tag of an EXIF block as it stands there; -1 when there is none.
int tag_value(Bytes tiff) {
  if (tiff.size() < 8) return -1;
  const bool big = std::to_integer<char>(tiff[0]) == 'M';
  if (value_at(tiff, 0, 2, true) != (big ? 0x4D4Du : 0x4949u) || value_at(tiff, 2, 2, big) != 42)
    return -1;
  const std::uint64_t directory = value_at(tiff, 4, 4, big);
  const std::uint32_t entries = value_at(tiff, directory, 2, big);
  for (std::uint32_t i = 0; i < entries; ++i) {
    const std::uint64_t entry = directory + 2 + 12ull * i;
    if (entry + 12 > tiff.size()) break;
    if (value_at(tiff, entry, 2, big) != 0x0112) continue;
    switch (value_at(tiff, entry + 2, 2, big)) {
      case 1:
        return static_cast<int>(value_at(tiff, entry + 8, 1, big));  // BYTE
      case 3:
        return static_cast<int>(value_at(tiff, entry + 8, 2, big));  // SHORT
      case 4:
        return static_cast<int>(value_at(tiff, entry + 8, 4, big) & 0xFFFF);  // LONG
      default:
        return 0;
    }
  }
  return -1;
}

/// The digit after an XMP packet's tiff:Orientation, attribute or element; -1 when there is none.
int xmp_value(Bytes packet) {
  const std::string_view text(reinterpret_cast<const char*>(packet.data()), packet.size());
  constexpr std::string_view key = "tiff:Orientation";
  for (std::size_t at = text.find(key); at != std::string_view::npos; at = text.find(key, at + 1)) {
    std::string_view rest = text.substr(at + key.size());
    if (rest.starts_with("=\""))
      rest.remove_prefix(2);
    else if (rest.starts_with(">"))
      rest.remove_prefix(1);
    else
      continue;
    if (!rest.empty() && rest[0] >= '0' && rest[0] <= '9') return rest[0] - '0';
  }
  return -1;
}

}  // namespace

int exif_orientation(Bytes tiff) { return orientation(tiff, {}); }

int orientation(Bytes exif, Bytes xmp) {
  int value = tag_value(exif);
  if (value < 0) value = xmp_value(xmp);
  return value >= 1 && value <= 8 ? value : 1;
}

}  // namespace vitascope::image
