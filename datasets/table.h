#pragma once

#include <cstddef>
#include <string>
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

/// \throws InputError with the line: another number of fields than columns, a column named twice,
/// not JSON, not an object, or a file above 1 GB
Table read_table(const std::string& path);

}  // namespace vitascope::datasets
