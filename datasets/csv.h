#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

/// \file
/// Comma-separated values (RFC 4180) of untrusted files.
namespace vitascope::datasets {

/// A row and the line of the file on which it begins.
struct CsvRow {
  std::size_t line = 1;
  std::vector<std::string> fields;
};

/// All rows of `text`, the header first; the file is named `path` in errors. Fields may be quoted
/// and then hold separators, line ends and doubled quotes. Lines end with LF or CRLF; empty ones
/// and a byte order mark are skipped. The separator is the one of comma, semicolon and tab that the
/// first line holds most of.
/// \throws InputError with the line where a quote stays open or is followed by more than a
/// separator
std::vector<CsvRow> parse_csv(std::string_view text, const std::string& path);

}  // namespace vitascope::datasets
