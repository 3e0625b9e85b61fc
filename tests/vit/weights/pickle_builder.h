#pragma once

#include <string>

#include "tests/vit/weights/zip_builder.h"

/// \file
/// Pickles made byte by byte, in protocol 2 with the opcodes that torch.save uses.
namespace vitascope::tests {

/// A whole pickle of `operations`.
inline std::string pickle(const std::string& operations) { return "\x80\x02" + operations + "."; }

inline std::string text(const std::string& value) { return "X" + le(value.size(), 4) + value; }
inline std::string integer(std::int64_t value) {
  return "\x8a\x08" + le(static_cast<std::uint64_t>(value), 8);
}
inline std::string global(const std::string& module, const std::string& name) {
  return "c" + module + "\n" + name + "\n";
}
/// `items` are whole values, one after the other.
inline std::string tuple(const std::string& items) { return "(" + items + "t"; }
inline std::string list(const std::string& items) { return "](" + items + "e"; }
/// `items` are keys and values in turn.
inline std::string dict(const std::string& items) { return "}(" + items + "u"; }
inline std::string call(const std::string& callable, const std::string& arguments) {
  return callable + arguments + "R";
}

}  // namespace vitascope::tests
