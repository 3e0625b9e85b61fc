#include "datasets/benchmark_files.h"

#include <fmt/format.h>
#include <zlib.h>

#include <algorithm>
#include <array>
#include <sstream>

#include "vit/error.h"
#include "vit/file.h"

namespace vitascope::datasets {
namespace {

constexpr std::size_t kLargestFile = std::size_t{2} << 30;

/// A zlib stream that ends itself.
struct Inflater {
  z_stream stream{};
  bool ready = false;
  Inflater() { ready = ::inflateInit2(&stream, 15 + 16) == Z_OK; }  // 16: gzip
  ~Inflater() { ::inflateEnd(&stream); }
  Inflater(const Inflater&) = delete;
  Inflater& operator=(const Inflater&) = delete;
};

/// Grows with what comes out, so that no header's claim takes memory.
std::vector<std::uint8_t> inflate_gzip(Bytes file, const std::string& path) {
  Inflater inflater;
  if (!inflater.ready) throw FailureError("zlib can't be started: not enough memory");
  z_stream& stream = inflater.stream;
  // zlib's input is not const; it never writes to it.
  stream.next_in = const_cast<Bytef*>(reinterpret_cast<const Bytef*>(file.data()));
  stream.avail_in = static_cast<uInt>(file.size());
  std::vector<std::uint8_t> out;
  std::array<std::uint8_t, 1 << 16> chunk{};
  for (int state = Z_OK; state != Z_STREAM_END;) {
    stream.next_out = chunk.data();
    stream.avail_out = static_cast<uInt>(chunk.size());
    state = ::inflate(&stream, Z_NO_FLUSH);
    if (state != Z_OK && state != Z_STREAM_END)
      throw InputError(
          path, fmt::format("damaged gzip: {}", state == Z_BUF_ERROR    ? "it is cut short"
                                                : stream.msg != nullptr ? stream.msg
                                                                        : "it makes no sense"));
    out.insert(out.end(), chunk.begin(), chunk.end() - stream.avail_out);
    if (out.size() > kLargestFile) throw InputError(path, "is larger than 2 GB decompressed");
  }
  return out;
}

}  // namespace

std::vector<std::string> read_class_names(const std::string& path) {
  std::istringstream text(read_file(path, 1 << 20));
  std::vector<std::string> names;
  for (std::string line; std::getline(text, line);) {
    if (line.ends_with('\r')) line.pop_back();
    if (!line.empty()) names.push_back(line);
  }
  return names;
}

std::vector<std::string> numbered_classes(std::size_t count) {
  std::vector<std::string> names;
  names.reserve(count);
  for (std::size_t i = 0; i < count; ++i) names.push_back(std::to_string(i));
  return names;
}

std::vector<std::uint8_t> read_maybe_gzip(const std::string& path) {
  const auto file = MappedFile::open(path);
  const Bytes bytes = file->bytes();
  if (bytes.size() > kLargestFile) throw InputError(path, "is larger than 2 GB");
  if (bytes.size() >= 2 && bytes[0] == std::byte{0x1F} && bytes[1] == std::byte{0x8B})
    return inflate_gzip(bytes, path);
  const auto* data = reinterpret_cast<const std::uint8_t*>(bytes.data());
  return {data, data + bytes.size()};
}

}  // namespace vitascope::datasets
