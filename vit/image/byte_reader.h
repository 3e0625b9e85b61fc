#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <string>

#include "vit/error.h"
#include "vit/file.h"

/// \file
/// Numbers out of an untrusted file, each read checked against its end.
namespace vitascope::image {

/// Reads integers of either byte order at absolute offsets of `bytes`.
class ByteReader {
 public:
  /// \param format the name of the format for error messages, e.g. "PNG"
  ByteReader(Bytes bytes, const std::string& path, const char* format)
      : bytes_(bytes), path_(path), format_(format) {}

  std::size_t size() const { return bytes_.size(); }

  /// Bytes [at, at + length).
  /// \throws InputError with the byte offset when they lie beyond the end
  Bytes part(std::uint64_t at, std::uint64_t length) const {
    if (at > bytes_.size() || length > bytes_.size() - at)
      throw InputError(path_,
                       fmt::format("the {} is cut short: {} bytes are needed at byte {}, the "
                                   "file has {}",
                                   format_, length, at, bytes_.size()));
    return bytes_.subspan(at, length);
  }

  std::uint8_t u8(std::uint64_t at) const { return std::to_integer<std::uint8_t>(part(at, 1)[0]); }
  std::uint16_t u16_little(std::uint64_t at) const { return number<2, false>(at); }
  std::uint16_t u16_big(std::uint64_t at) const { return number<2, true>(at); }
  std::uint32_t u24_little(std::uint64_t at) const { return number<3, false>(at); }
  std::uint32_t u32_little(std::uint64_t at) const { return number<4, false>(at); }
  std::uint32_t u32_big(std::uint64_t at) const { return number<4, true>(at); }

  /// Whether `text` stands at `at`; false beyond the end.
  bool has(std::uint64_t at, std::string_view text) const {
    if (at > bytes_.size() || text.size() > bytes_.size() - at) return false;
    for (std::size_t i = 0; i < text.size(); ++i)
      if (std::to_integer<char>(bytes_[at + i]) != text[i]) return false;
    return true;
  }

  /// \throws InputError "damaged <format> (byte <at>): <what>"
  [[noreturn]] void fail(std::uint64_t at, const std::string& what) const {
    throw InputError(path_, fmt::format("damaged {} (byte {}): {}", format_, at, what));
  }

 private:
  template <int width, bool big>
  std::uint32_t number(std::uint64_t at) const {
    const Bytes field = part(at, width);
    std::uint32_t value = 0;
    for (int i = 0; i < width; ++i)
      value = value << 8 | std::to_integer<std::uint32_t>(field[big ? i : width - 1 - i]);
    return value;
  }

  Bytes bytes_;
  const std::string& path_;
  const char* format_;
};

}  // namespace vitascope::image
