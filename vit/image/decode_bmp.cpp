#include <array>
#include <bit>
#include <cstring>

#include "vit/error.h"
#include "vit/image/decoders.h"
#include "vit/image/format_headers.h"

namespace vitascope::image {
namespace {

using Colour = std::array<std::uint8_t, 3>;

int byte_at(Bytes bytes, std::size_t i) { return std::to_integer<int>(bytes[i]); }

/// RGB of every index; black beyond the file's palette.
std::array<Colour, 256> palette_of(const BmpLayout& layout) {
  std::array<Colour, 256> palette{};
  const std::size_t step = layout.palette_step;
  for (std::size_t i = 0; i < 256 && (i + 1) * step <= layout.palette.size(); ++i)
    for (std::size_t c = 0; c < 3; ++c)
      palette[i][c] = std::to_integer<std::uint8_t>(layout.palette[i * step + 2 - c]);
  return palette;
}

/// Undoes run lengths into one index a pixel, in the file's order of rows; index 0 where the file
/// skips pixels. Pairs of bytes: a run, or 0 and an escape.
std::vector<std::uint8_t> expand_runs(const BmpLayout& layout, const std::string& path) {
  const Bytes data = layout.pixels;
  const bool nibbles = layout.bits == 4;
  const std::size_t width = layout.size.width;
  std::vector<std::uint8_t> indices(width * layout.size.height);
  std::size_t at = 0;
  const auto next = [&] {
    if (at >= data.size()) throw InputError(path, "the BMP is cut short inside its run lengths");
    return byte_at(data, at++);
  };
  std::size_t pixel = 0;
  const auto put = [&](int index) {
    if (pixel < indices.size()) indices[pixel++] = static_cast<std::uint8_t>(index);
  };
  for (std::size_t x = 0; pixel < indices.size();) {
    const int count = next();
    const int value = next();
    if (count != 0) {  // a run, cut at the end of its row
      const std::size_t run = std::min<std::size_t>(count, width - std::min(x, width));
      for (std::size_t i = 0; i < run; ++i)
        put(!nibbles ? value : i % 2 == 0 ? value >> 4 : value & 15);
      x += run;
    } else if (value == 0) {  // end of the row
      pixel = (pixel + width - 1) / width * width;
      x = 0;
    } else if (value == 1) {  // end of the picture
      break;
    } else if (value == 2) {  // a jump to the right and up
      const std::size_t right = next();
      pixel += right + width * next();
      x = pixel % width;
    } else {  // pixels as they are, padded to two bytes
      const std::size_t bytes = nibbles ? (value + 1) / 2 : value;
      for (std::size_t i = 0; i < bytes; ++i) {
        const int both = next();
        put(nibbles ? both >> 4 : both);
        if (nibbles && 2 * i + 1 < static_cast<std::size_t>(value)) put(both & 15);
      }
      x += value;
      if (bytes % 2 != 0 && pixel < indices.size()) next();
    }
  }
  return indices;
}

/// One channel of a 16- or 32-bit pixel, scaled to 255.
std::uint8_t masked(std::uint32_t pixel, std::uint32_t mask) {
  if (mask == 0) return 0;
  const std::uint32_t value = (pixel & mask) >> std::countr_zero(mask);
  const std::uint32_t most = mask >> std::countr_zero(mask);
  if (most == 255) return static_cast<std::uint8_t>(value);
  return static_cast<std::uint8_t>(static_cast<std::uint64_t>(value) * 255 / most);
}

/// Writes one stored row of uncompressed pixels as RGB.
void convert_row(const BmpLayout& layout, const std::array<Colour, 256>& palette, Bytes row,
                 std::uint8_t* rgb) {
  const int bits = layout.bits;
  for (std::size_t x = 0; x < static_cast<std::size_t>(layout.size.width); ++x, rgb += 3) {
    if (bits <= 8) {
      const std::size_t bit = x * bits;
      const int index = byte_at(row, bit / 8) >> (8 - bits - bit % 8) & ((1 << bits) - 1);
      std::memcpy(rgb, palette[index].data(), 3);
      continue;
    }
    const std::size_t bytes = bits / 8;
    std::uint32_t pixel = 0;
    for (std::size_t i = 0; i < bytes; ++i)
      pixel |= static_cast<std::uint32_t>(byte_at(row, x * bytes + i)) << 8 * i;
    for (int c = 0; c < 3; ++c) rgb[c] = masked(pixel, layout.masks[c]);
  }
}

}  // namespace

Picture decode_bmp(Bytes file, const std::string& path) {
  const BmpLayout layout = read_bmp_layout(file, path);
  const std::array<Colour, 256> palette = palette_of(layout);
  Picture picture;
  picture.size = layout.size;
  const std::size_t width = layout.size.width;
  const std::size_t height = layout.size.height;
  picture.rgb.resize(width * height * 3);
  const bool run_lengths = layout.compression == 1 || layout.compression == 2;
  const std::vector<std::uint8_t> indices =
      run_lengths ? expand_runs(layout, path) : std::vector<std::uint8_t>();
  for (std::size_t y = 0; y < height; ++y) {
    std::uint8_t* rgb = &picture.rgb[(layout.top_down ? y : height - 1 - y) * width * 3];
    if (!run_lengths) {
      const std::size_t step = layout.row_bytes();
      convert_row(layout, palette, layout.pixels.subspan(y * step, step), rgb);
      continue;
    }
    for (std::size_t x = 0; x < width; ++x)
      std::memcpy(rgb + 3 * x, palette[indices[y * width + x]].data(), 3);
  }
  return picture;
}

}  // namespace vitascope::image
