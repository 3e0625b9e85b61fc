
#include <algorithm>

#include "vit/checksum.h"
#include "vit/image/byte_reader.h"
#include "vit/image/format_headers.h"

namespace vitascope::image {
namespace {

constexpr std::uint64_t kSignature = 8;
constexpr std::uint64_t kColour = kSignature + 8 + 9;  // the colour type inside IHDR

struct Chunk {
  std::string_view type;
  std::uint64_t at = 0;  ///< of its length field
  Bytes data;
};

/// The chunk at `at`, whole with its checksum.
/// \throws InputError when the file ends inside it
Chunk chunk_at(const ByteReader& reader, std::uint64_t at) {
  const std::uint32_t length = reader.u32_big(at);
  const Bytes name = reader.part(at + 4, 4);
  const Chunk chunk{
      {reinterpret_cast<const char*>(name.data()), 4}, at, reader.part(at + 8, length)};
  reader.part(at + 8 + length, 4);
  return chunk;
}

int channels_of(int colour) {
  switch (colour) {
    case 0:
      return 1;  // gray
    case 2:
      return 3;  // RGB
    case 3:
      return 3;  // palette, whose colours are RGB
    case 4:
      return 2;  // gray + alpha
    case 6:
      return 4;  // RGBA
    default:
      return 0;
  }
}

bool is_depth(int colour, int depth) {
  if (depth == 8) return true;
  if (depth == 16) return colour != 3;
  return (depth == 1 || depth == 2 || depth == 4) && (colour == 0 || colour == 3);
}

void read_header_chunk(const ByteReader& reader, const Chunk& chunk, Header& header) {
  if (chunk.type != "IHDR" || chunk.data.size() != 13)
    reader.fail(chunk.at, "it must begin with an IHDR chunk of 13 bytes");
  const std::uint32_t width = reader.u32_big(chunk.at + 8);
  const std::uint32_t height = reader.u32_big(chunk.at + 12);
  if (width == 0 || height == 0 || width > 0x7FFFFFFF || height > 0x7FFFFFFF)
    reader.fail(chunk.at + 8, fmt::format("its size of {} x {} is impossible", width, height));
  header.stored = {static_cast<int>(width), static_cast<int>(height)};
  header.bit_depth = reader.u8(chunk.at + 16);
  const int colour = reader.u8(kColour);
  header.channels = channels_of(colour);
  if (header.channels == 0 || !is_depth(colour, header.bit_depth))
    reader.fail(chunk.at + 16,
                fmt::format("colour type {} with {} bits is not a PNG", colour, header.bit_depth));
}

/// The packet inside an iTXt chunk "XML:com.adobe.xmp"; empty when it is another text or
/// compressed.
Bytes xmp_packet(Bytes text) {
  constexpr std::string_view keyword("XML:com.adobe.xmp\0\0\0", 20);  // not compressed
  const std::string_view all(reinterpret_cast<const char*>(text.data()), text.size());
  if (!all.starts_with(keyword)) return {};
  const std::size_t language = all.find('\0', keyword.size());
  if (language == std::string_view::npos) return {};
  const std::size_t translated = all.find('\0', language + 1);
  return translated == std::string_view::npos ? Bytes() : text.subspan(translated + 1);
}

}  // namespace

Header read_png_header(Bytes file, const std::string& path) {
  const ByteReader reader(file, path, "PNG");
  Header header;
  Chunk chunk = chunk_at(reader, kSignature);
  read_header_chunk(reader, chunk, header);
  Bytes exif;
  Bytes xmp;
  bool palette = false;
  bool data = false;
  while (chunk.type != "IEND") {
    chunk = chunk_at(reader, chunk.at + 12 + chunk.data.size());
    if (chunk.type == "IHDR") reader.fail(chunk.at, "it has a second IHDR chunk");
    if (chunk.type == "PLTE") palette = true;
    if (chunk.type == "IDAT" && !palette && reader.u8(kColour) == 3)
      reader.fail(chunk.at, "its palette is missing");
    if (chunk.type == "IDAT") data = true;
    if (chunk.type == "eXIf") exif = chunk.data;
    if (chunk.type == "iTXt" && xmp.empty()) xmp = xmp_packet(chunk.data);
  }
  if (!data) reader.fail(chunk.at, "it has no IDAT chunk, so no pixels");
  header.orientation = orientation(exif, xmp);
  return header;
}

std::vector<std::byte> essential_png(Bytes file, const std::string& path) {
  const ByteReader reader(file, path, "PNG");
  std::vector<std::byte> kept(file.begin(), file.begin() + kSignature);
  Chunk chunk{{}, 0, {}};
  for (std::uint64_t at = kSignature; chunk.type != "IEND"; at += 12 + chunk.data.size()) {
    chunk = chunk_at(reader, at);
    if (std::ranges::count(std::to_array<std::string_view>({"IHDR", "PLTE", "IDAT", "IEND"}),
                           chunk.type) == 0)
      continue;
    const Bytes checked = reader.part(at + 4, 4 + chunk.data.size());
    if (crc32_of(checked) != reader.u32_big(at + 8 + chunk.data.size()))
      reader.fail(at, fmt::format("the checksum of its {} chunk is wrong", chunk.type));
    const Bytes whole = reader.part(at, 12 + chunk.data.size());
    kept.insert(kept.end(), whole.begin(), whole.end());
  }
  return kept;
}

}  // namespace vitascope::image
