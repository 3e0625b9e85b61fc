#pragma once

#include <cstdint>
#include <string_view>

#include "vit/file.h"

/// \file
/// What tells most contents apart, and damaged ones from whole ones.
namespace vitascope {

/// CRC-32 as zlib has it.
/// \param before the sum of what lies in front; the sum of both together is returned
std::uint32_t crc32_of(Bytes bytes, std::uint32_t before = 0);
std::uint32_t crc32_of(std::string_view text, std::uint32_t before = 0);

}  // namespace vitascope
