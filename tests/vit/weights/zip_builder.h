#pragma once

#include <zlib.h>

#include <cstdint>
#include <stdexcept>
#include <string>
#include <vector>

/// \file
/// Zip archives made byte by byte, good ones and bad ones.
namespace vitascope::tests {

/// `value` as `width` bytes, lowest first.
inline std::string le(std::uint64_t value, int width) {
  std::string bytes;
  for (int i = 0; i < width; ++i) {
    bytes.push_back(i < 8 ? static_cast<char>((value >> (8 * i)) & 0xff) : '\0');
  }
  return bytes;
}

/// Overwrites `width` bytes of `file` at `offset`.
inline void patch(std::string& file, std::size_t offset, int width, std::uint64_t value) {
  file.replace(offset, static_cast<std::size_t>(width), le(value, width));
}

/// Raw deflate data, as zip holds it.
inline std::string deflated(const std::string& content) {
  z_stream stream{};
  if (deflateInit2(&stream, 9, Z_DEFLATED, -MAX_WBITS, 9, Z_DEFAULT_STRATEGY) != Z_OK) {
    throw std::runtime_error("deflateInit2");
  }
  std::string result(deflateBound(&stream, content.size()), '\0');
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(content.data()));
  stream.avail_in = static_cast<uInt>(content.size());
  stream.next_out = reinterpret_cast<Bytef*>(result.data());
  stream.avail_out = static_cast<uInt>(result.size());
  deflate(&stream, Z_FINISH);
  result.resize(stream.total_out);
  deflateEnd(&stream);
  return result;
}

struct ZipItem {
  std::string name;
  std::string content;
  bool deflate = false;
};

/// A zip archive of `items`. With `zip64`, the directory states sizes and offsets in zip64 fields
/// and ends in a zip64 end record.
inline std::string zip_of(const std::vector<ZipItem>& items, bool zip64 = false,
                          const std::string& comment = "") {
  std::string file;
  std::string directory;
  for (const ZipItem& item : items) {
    const std::string data = item.deflate ? deflated(item.content) : item.content;
    const auto crc =
        crc32_z(0, reinterpret_cast<const Bytef*>(item.content.data()), item.content.size());
    const std::string start =
        le(20, 2) + le(0x800, 2) + le(item.deflate ? 8 : 0, 2) + le(0, 4) + le(crc, 4);
    const std::string sizes = le(data.size(), 4) + le(item.content.size(), 4);
    const std::string extra = zip64 ? le(0x9999, 2) + le(1, 2) + "x" + le(1, 2) + le(24, 2) +
                                          le(item.content.size(), 8) + le(data.size(), 8) +
                                          le(file.size(), 8)
                                    : "";
    directory += "PK\1\2" + le(20, 2) + start + (zip64 ? le(UINT64_MAX, 8) : sizes) +
                 le(item.name.size(), 2) + le(extra.size(), 2) + le(0, 2) + le(0, 2) + le(0, 6) +
                 le(zip64 ? UINT64_MAX : file.size(), 4) + item.name + extra;
    file +=
        "PK\3\4" + start + sizes + le(item.name.size(), 2) + le(3, 2) + item.name + "pad" + data;
  }
  const std::size_t offset = file.size();
  file += directory;
  if (zip64) {
    const std::size_t end = file.size();
    file += "PK\6\6" + le(44, 8) + le(45, 2) + le(45, 2) + le(0, 4) + le(0, 4) +
            le(items.size(), 8) + le(items.size(), 8) + le(directory.size(), 8) + le(offset, 8);
    file += "PK\6\7" + le(0, 4) + le(end, 8) + le(1, 4);
  }
  const std::uint64_t hidden = zip64 ? UINT64_MAX : 0;
  file += "PK\5\6" + le(0, 2) + le(0, 2) + le(items.size() | hidden, 2) +
          le(items.size() | hidden, 2) + le(directory.size() | hidden, 4) + le(offset | hidden, 4) +
          le(comment.size(), 2) + comment;
  return file;
}

}  // namespace vitascope::tests
