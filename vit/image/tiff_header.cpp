#include <algorithm>

#include "vit/image/byte_reader.h"
#include "vit/image/format_headers.h"

namespace vitascope::image {
namespace {

/// The numbers of one tag, which lie inside the file.
struct Field {
  int type = 0;
  std::uint32_t count = 0;
  std::uint64_t at = 0;  ///< of its values

  explicit operator bool() const { return count != 0; }
};

/// The first directory of a classic TIFF.
class Directory {
 public:
  Directory(Bytes file, const std::string& path) : reader_(file, path, "TIFF") {
    big_ = reader_.has(0, "MM");
    if (u16(2) == 43)
      throw InputError(path, "is a BigTIFF, which is not supported; save it as a plain TIFF");
    at_ = u32(4);
    entries_ = u16(at_);
    for (int i = 0; i < entries_; ++i) entry(i);
    u32(at_ + 2 + 12ull * entries_);  // where the next directory would be
  }

  Field find(int tag) const {
    for (int i = 0; i < entries_; ++i)
      if (u16(at_ + 2 + 12ull * i) == tag) return entry(i);
    return {};
  }

  /// The i-th number of a field of bytes, shorts or longs.
  std::uint32_t value(const Field& field, std::uint32_t i) const {
    if (field.type == 4) return u32(field.at + 4ull * i);
    return field.type == 3 ? u16(field.at + 2ull * i) : reader_.u8(field.at + i);
  }

  /// The tag's first value, or `otherwise` when the file doesn't have it.
  std::uint32_t number(int tag, std::uint32_t otherwise) const {
    const Field field = find(tag);
    return field ? value(field, 0) : otherwise;
  }

  Bytes bytes(const Field& field) const { return reader_.part(field.at, field.count); }

  const ByteReader& reader() const { return reader_; }

 private:
  std::uint16_t u16(std::uint64_t at) const {
    return big_ ? reader_.u16_big(at) : reader_.u16_little(at);
  }
  std::uint32_t u32(std::uint64_t at) const {
    return big_ ? reader_.u32_big(at) : reader_.u32_little(at);
  }

  Field entry(int i) const {
    // BYTE, ASCII, SHORT, LONG, RATIONAL, then their signed twins, FLOAT, DOUBLE and IFD.
    constexpr int kWidths[] = {1, 1, 1, 2, 4, 8, 1, 1, 2, 4, 8, 4, 8, 4};
    const std::uint64_t at = at_ + 2 + 12ull * i;
    Field field{u16(at + 2), u32(at + 4), at + 8};
    const std::uint64_t bytes =
        static_cast<std::uint64_t>(field.type < 14 ? kWidths[field.type] : 1) * field.count;
    if (bytes > 4) field.at = u32(at + 8);
    reader_.part(field.at, bytes);
    return field;
  }

  ByteReader reader_;
  bool big_ = false;
  std::uint64_t at_ = 0;
  int entries_ = 0;
};

constexpr int kWidth = 256, kHeight = 257, kBits = 258, kStrips = 273, kOrientation = 274,
              kChannels = 277, kStripBytes = 279, kTiles = 324, kTileBytes = 325,
              kExtraChannels = 338, kSampleFormat = 339, kXmp = 700;

/// Every strip or tile must lie inside the file: a decoder would leave the rest black.
void check_data(const Directory& directory) {
  const bool tiled = static_cast<bool>(directory.find(kTiles));
  const Field at = directory.find(tiled ? kTiles : kStrips);
  const Field bytes = directory.find(tiled ? kTileBytes : kStripBytes);
  if (!at) directory.reader().fail(4, "it has no pixel data");
  for (std::uint32_t i = 0; i < std::min(at.count, bytes.count); ++i)
    directory.reader().part(directory.value(at, i), directory.value(bytes, i));
}

}  // namespace

Header read_tiff_header(Bytes file, const std::string& path) {
  const Directory directory(file, path);
  const ByteReader& reader = directory.reader();
  const std::uint32_t width = directory.number(kWidth, 0);
  const std::uint32_t height = directory.number(kHeight, 0);
  if (width == 0 || height == 0 || width > 0x7FFFFFFF || height > 0x7FFFFFFF)
    reader.fail(4, fmt::format("its size of {} x {} is impossible", width, height));
  Header header;
  header.stored = {static_cast<int>(width), static_cast<int>(height)};
  header.bit_depth = static_cast<int>(std::min(directory.number(kBits, 1), 255u));
  header.channels = static_cast<int>(std::min(directory.number(kChannels, 1), 255u));
  if (header.bit_depth > 16 || directory.number(kSampleFormat, 1) > 2)
    throw InputError(path,
                     fmt::format("is a TIFF of {}-bit or floating-point numbers, which have no "
                                 "one meaning as a picture; save it with 8 or 16 bits",
                                 header.bit_depth));
  check_data(directory);
  const Field stored = directory.find(kOrientation);
  if (stored) {
    const std::uint32_t value = directory.value(stored, 0);
    header.orientation = value >= 1 && value <= 8 ? static_cast<int>(value) : 1;
  } else if (const Field packet = directory.find(kXmp)) {
    header.orientation = orientation({}, directory.bytes(packet));
  }
  return header;
}

std::optional<std::size_t> tiff_orientation_offset(Bytes file, const std::string& path) {
  const Field field = Directory(file, path).find(kOrientation);
  return field ? std::optional<std::size_t>(field.at) : std::nullopt;
}

std::optional<std::size_t> tiff_alpha_offset(Bytes file, const std::string& path) {
  const Field field = Directory(file, path).find(kExtraChannels);
  return field && field.type == 3 ? std::optional<std::size_t>(field.at) : std::nullopt;
}

}  // namespace vitascope::image
