#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

/// \file
/// Text for people: characters, escaping of what files say, nearest names, natural order.
namespace vitascope {

/// A character and the bytes that it takes.
struct CodePoint {
  char32_t value;
  std::size_t length;
};

/// The first character of `text`, which is not empty; nothing where the bytes are not UTF-8.
std::optional<CodePoint> decode_utf8(std::string_view text);

/// Characters that move the cursor, change its direction or hide: not fit to be shown.
bool is_control(char32_t c);

/// Returns `text` fit for a terminal and for CSV: control characters (C0, DEL, C1), bidirectional
/// overrides and bytes that are not UTF-8 come out as \\n, \\t, \\xNN or \\u{NNNN}; all else as it
/// is.
std::string printable(std::string_view text);

/// The candidate nearest to `word` by edit distance, or "" when none is near enough to suggest
/// (more than a third of the letters differ).
std::string nearest_name(std::string_view word, const std::vector<std::string>& candidates);

/// Natural order: runs of digits compare as numbers, so that 'photo 9' comes before 'photo 10';
/// ties are broken byte by byte, which makes the order total.
bool natural_less(std::string_view a, std::string_view b);

/// A to Z become a to z; all other bytes stay, so that UTF-8 does.
std::string lower_case(std::string text);

/// 1234567 -> "1.2 MB"; decimal units.
std::string byte_count(std::uint64_t bytes);

/// {2, 3, 4} -> "[2, 3, 4]".
std::string shape_text(const std::vector<std::int64_t>& shape);

}  // namespace vitascope
