#pragma once

#include <cstdint>

#include "vit/file.h"

/// \file
/// Unsigned integers as the file formats here store them.
namespace vitascope::weights {

/// The `width` bytes from `offset` on as an unsigned integer, lowest byte first. The caller has
/// checked that they lie inside `bytes`; `width` is 1 to 8.
inline std::uint64_t little_endian(Bytes bytes, std::size_t offset, std::size_t width) {
  std::uint64_t value = 0;
  for (std::size_t i = 0; i < width; ++i) {
    value |= std::to_integer<std::uint64_t>(bytes[offset + i]) << (8 * i);
  }
  return value;
}

}  // namespace vitascope::weights
