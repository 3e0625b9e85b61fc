#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "vit/json.h"

/// \file
/// Rows of CSV and of JSON lines in one form.
namespace vitascope::datasets {

/// A row: an object from column to value. CSV's values are all text.
struct Record {
  std::size_t line = 1;
  Json values;
};

/// A table of an untrusted file.
struct Table {
  std::vector<std::string> columns;  ///< in the file's order; of JSON lines every key that is used
  std::vector<Record> records;
};

/// Whether the name ends like a table: .csv, .tsv, .jsonl, .ndjson in any case.
bool is_table(const std::string& path);

/// Reads `text` as what the end of `path` says: JSON lines, else CSV.
/// \throws InputError with the line: another number of fields than columns, a column named twice,
/// not JSON, not an object
Table parse_table(std::string_view text, const std::string& path);

/// The same of the file at `path`.
/// \throws InputError as parse_table, or when the file can't be read or is above 1 GB
Table read_table(const std::string& path);

}  // namespace vitascope::datasets
