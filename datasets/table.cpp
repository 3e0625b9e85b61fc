#include "datasets/table.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <utility>

#include "datasets/csv.h"
#include "datasets/extension.h"
#include "vit/error.h"
#include "vit/file.h"
#include "vit/text.h"

namespace vitascope::datasets {
namespace {

constexpr std::size_t kLargestTable = std::size_t{1} << 30;

Table csv_table(std::string_view text, const std::string& path) {
  std::vector<CsvRow> rows = parse_csv(text, path);
  if (rows.empty()) throw InputError(path, "is empty; expected a line of column names");
  Table table;
  table.columns = rows.front().fields;
  std::set<std::string> seen;
  for (const std::string& column : table.columns)
    if (!seen.insert(column).second)
      throw InputError(path, fmt::format("the column '{}' stands twice", printable(column)));
  table.records.reserve(rows.size() - 1);
  for (std::size_t r = 1; r < rows.size(); ++r) {
    CsvRow& row = rows[r];
    if (row.fields.size() != table.columns.size())
      throw InputError(path, fmt::format("line {}: {} fields, expected {} as in the first line; a "
                                         "field that holds the separator must be in quotes",
                                         row.line, row.fields.size(), table.columns.size()));
    Record record{row.line, Json::object()};
    for (std::size_t i = 0; i < row.fields.size(); ++i)
      record.values[table.columns[i]] = std::move(row.fields[i]);
    table.records.push_back(std::move(record));
  }
  return table;
}

Table json_table(std::string_view text, const std::string& path) {
  Table table;
  std::set<std::string> seen;
  if (text.starts_with("\xEF\xBB\xBF")) text.remove_prefix(3);
  for (std::size_t line = 1; !text.empty(); ++line) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    const std::string_view row = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    if (row.find_first_not_of(" \t\r") == std::string_view::npos) continue;
    Record record{line, {}};
    try {
      record.values = parse_json(row, path);
    } catch (const InputError& error) {
      throw InputError(path, fmt::format("line {}: {}", line, error.message()));
    }
    if (!record.values.is_object())
      throw InputError(path, fmt::format("line {}: expected a JSON object, one a line", line));
    for (const auto& [key, value] : record.values.items())
      if (seen.insert(key).second) table.columns.push_back(key);
    table.records.push_back(std::move(record));
  }
  return table;
}

}  // namespace

bool is_table(const std::string& path) {
  const std::string extension = lower_extension(path);
  return extension == ".csv" || extension == ".tsv" || extension == ".jsonl" ||
         extension == ".ndjson";
}

Table parse_table(std::string_view text, const std::string& path) {
  const std::string extension = lower_extension(path);
  return extension == ".jsonl" || extension == ".ndjson" ? json_table(text, path)
                                                         : csv_table(text, path);
}

Table read_table(const std::string& path) {
  return parse_table(read_file(path, kLargestTable), path);
}

}  // namespace vitascope::datasets
