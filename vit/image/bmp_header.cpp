#include <algorithm>

#include "vit/image/byte_reader.h"
#include "vit/image/format_headers.h"

namespace vitascope::image {
namespace {

constexpr std::uint64_t kInfo = 14;  // where the second header begins

/// Bit masks of 16 and 32 bits: the file's own, or 5-5-5 and 8-8-8.
std::array<std::uint32_t, 3> read_masks(const ByteReader& reader, const BmpLayout& layout) {
  constexpr std::array<std::uint32_t, 3> kFives{0x7C00, 0x3E0, 0x1F},
      kEights{0xFF0000, 0xFF00, 0xFF};
  const auto& usual = layout.bits == 16 ? kFives : kEights;
  if (layout.compression != 3) return usual;
  std::array<std::uint32_t, 3> masks{};
  for (int c = 0; c < 3; ++c) masks[c] = reader.u32_little(kInfo + 40 + 4ull * c);
  return masks == std::array<std::uint32_t, 3>{} ? usual : masks;
}

Bytes read_palette(const ByteReader& reader, const BmpLayout& layout, std::uint32_t header_size,
                   std::uint64_t pixels) {
  std::uint64_t colours = layout.palette_step == 4 ? reader.u32_little(kInfo + 32) : 0;
  if (colours == 0) colours = 1ull << layout.bits;
  if (colours > 65536) reader.fail(kInfo + 32, fmt::format("{} colours are too many", colours));
  const std::uint64_t at = kInfo + header_size;
  // Some writers claim more colours than there is room for before the pixels.
  const std::uint64_t room = pixels > at ? pixels - at : 0;
  return reader.part(at, std::min(room, colours * layout.palette_step));
}

}  // namespace

BmpLayout read_bmp_layout(Bytes file, const std::string& path) {
  const ByteReader reader(file, path, "BMP");
  const std::uint32_t pixels = reader.u32_little(10);
  const std::uint32_t header_size = reader.u32_little(kInfo);
  BmpLayout layout;
  std::int64_t width = 0;
  std::int64_t height = 0;
  if (header_size == 12) {  // OS/2
    layout.palette_step = 3;
    width = reader.u16_little(kInfo + 4);
    height = reader.u16_little(kInfo + 6);
    layout.bits = reader.u16_little(kInfo + 10);
  } else {
    width = static_cast<std::int32_t>(reader.u32_little(kInfo + 4));
    height = static_cast<std::int32_t>(reader.u32_little(kInfo + 8));
    layout.bits = reader.u16_little(kInfo + 14);
    layout.compression = static_cast<int>(std::min(reader.u32_little(kInfo + 16), 255u));
  }
  layout.top_down = height < 0;
  height = height < 0 ? -height : height;
  if (width <= 0 || height <= 0 || height > 0x7FFFFFFF)
    reader.fail(kInfo + 4, fmt::format("its size of {} x {} is impossible", width, height));
  layout.size = {static_cast<int>(width), static_cast<int>(height)};
  const int bits = layout.bits;
  if (bits != 1 && bits != 4 && bits != 8 && bits != 16 && bits != 24 && bits != 32)
    reader.fail(kInfo + 14, fmt::format("{} bits a pixel are not supported", bits));
  const int compression = layout.compression;
  const bool run_lengths = (compression == 1 && bits == 8) || (compression == 2 && bits == 4);
  if (compression != 0 && !run_lengths && (compression != 3 || bits < 16))
    reader.fail(kInfo + 16, fmt::format("compression {} with {} bits a pixel is not supported",
                                        compression, bits));
  if (bits <= 8) layout.palette = read_palette(reader, layout, header_size, pixels);
  if (bits > 8) layout.masks = read_masks(reader, layout);
  reader.part(pixels, run_lengths ? 2 : layout.row_bytes() * height);
  layout.pixels = file.subspan(pixels);
  return layout;
}

Header read_bmp_header(Bytes file, const std::string& path) {
  const BmpLayout layout = read_bmp_layout(file, path);
  Header header;
  header.stored = layout.size;
  header.channels = layout.bits == 32 ? 4 : 3;
  return header;
}

}  // namespace vitascope::image
