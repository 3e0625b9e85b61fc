#pragma once

#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <string_view>

/// \file
/// The one door through which JSON of untrusted files comes in.
namespace vitascope {

using Json = nlohmann::json;

/// Deepest nesting that a JSON file may have.
inline constexpr int kJsonDepth = 64;

/// Parses `text`; the file is named `path` in errors.
/// \throws InputError with the byte offset when the text is not JSON, is nested more deeply than
///         kJsonDepth or holds a key twice in one object
Json parse_json(std::string_view text, const std::string& path);

/// Reads and parses the file at `path`, at most `limit` bytes of it.
/// \throws InputError as above, or when the file can't be read or is larger than `limit`
Json read_json(const std::string& path, std::size_t limit = 64u << 20);

}  // namespace vitascope
