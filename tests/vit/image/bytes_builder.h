#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "vit/file.h"

/// \file
/// Builds small image files by hand.
namespace vitascope::tests {

/// `count` bytes of `value`, the lowest first.
inline std::string little(std::uint64_t value, int count) {
  std::string bytes;
  for (int i = 0; i < count; ++i) bytes += static_cast<char>(value >> 8 * i & 0xFF);
  return bytes;
}

/// `count` bytes of `value`, the highest first.
inline std::string big(std::uint64_t value, int count) {
  const std::string turned = little(value, count);
  return {turned.rbegin(), turned.rend()};
}

/// A literal that may hold zeros.
template <std::size_t length>
std::string raw(const char (&text)[length]) {
  return {text, length - 1};
}

/// The bytes of a string, which must outlive the result.
inline Bytes bytes_of(std::string_view text) { return std::as_bytes(std::span(text)); }

}  // namespace vitascope::tests
