#include "datasets/manifest.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <filesystem>
#include <set>
#include <utility>

#include "datasets/image_folder.h"
#include "datasets/table.h"
#include "vit/error.h"
#include "vit/text.h"

namespace vitascope::datasets {
namespace {

namespace fs = std::filesystem;

const std::vector<std::string> kPathColumns{"path", "file", "filename", "file_name", "image"};
const std::vector<std::string> kLabelColumns{"label", "labels", "class", "category"};

std::string trimmed(std::string_view text) {
  const std::size_t begin = text.find_first_not_of(" \t\r\n");
  if (begin == std::string_view::npos) return "";
  return std::string(text.substr(begin, text.find_last_not_of(" \t\r\n") - begin + 1));
}

/// Which columns of a table mean what; "" where there is none.
struct Columns {
  std::string path, label;
  bool several = false;  // the label column holds lists
};

std::vector<std::string> present(const Table& table, const std::vector<std::string>& names) {
  std::vector<std::string> result;
  std::copy_if(names.begin(), names.end(), std::back_inserter(result), [&](const auto& name) {
    return std::find(table.columns.begin(), table.columns.end(), name) != table.columns.end();
  });
  return result;
}

/// The column that is one of `names`, or the error that says what was expected.
std::string one_column(const Table& table, const std::string& path,
                       const std::vector<std::string>& names, const char* what) {
  const std::vector<std::string> found = present(table, names);
  if (found.size() == 1) return found.front();
  if (found.size() > 1)
    throw InputError(path, fmt::format("has the columns '{}'; keep the one that holds {}",
                                       fmt::join(found, "' and '"), what));
  throw InputError(path, fmt::format("has no column for {}: expected one named {}; it has: {}",
                                     what, fmt::join(names, ", "),
                                     printable(fmt::format("{}", fmt::join(table.columns, ", ")))));
}

Columns find_columns(const Table& table, const std::string& path) {
  if (table.records.empty()) throw InputError(path, "lists no photos");
  Columns columns;
  columns.path = one_column(table, path, kPathColumns, "the photos");
  std::vector<std::string> others;
  for (const std::string& column : table.columns)
    if (column != columns.path && column != "split" && column != "weight") others.push_back(column);
  const bool named = !present(table, kLabelColumns).empty();
  columns.label = !named && others.size() == 1
                      ? others.front()
                      : one_column(table, path, kLabelColumns, "the labels");
  columns.several = columns.label == "labels" ||
                    std::any_of(table.records.begin(), table.records.end(), [&](const Record& r) {
                      return r.values.contains(columns.label) && r.values[columns.label].is_array();
                    });
  return columns;
}

/// Reads the rows of one table.
class Rows {
 public:
  Rows(const std::string& path, const Columns& columns)
      : path_(path), folder_(fs::path(path).parent_path()), columns_(columns) {}

  NamedSample read(const Record& record) const {
    NamedSample result;
    const Json* file = value(record, columns_.path);
    if (file == nullptr || !file->is_string() || file->get<std::string>().empty())
      fail(record, fmt::format("'{}' must name a file", printable(columns_.path)));
    const fs::path photo(file->get<std::string>());
    result.sample.path = (photo.is_absolute() ? photo : folder_ / photo).string();
    if (columns_.several) {
      result.names = labels(record);
    } else {
      result.names = {label(record, value(record, columns_.label))};
    }
    result.sample.split = split(record, photo);
    result.sample.weight = weight(record);
    return result;
  }

 private:
  static const Json* value(const Record& record, const std::string& column) {
    const auto found = record.values.find(column);
    return found == record.values.end() || found->is_null() ? nullptr : &*found;
  }

  [[noreturn]] void fail(const Record& record, const std::string& what) const {
    throw InputError(path_, fmt::format("line {}: {}", record.line, what));
  }

  std::string label(const Record& record, const Json* value) const {
    std::string name;
    if (value != nullptr && value->is_string()) name = trimmed(value->get<std::string>());
    if (value != nullptr && value->is_number_integer()) name = value->dump();
    if (name.empty())
      fail(record,
           fmt::format("'{}' is {}, expected the name of a class", printable(columns_.label),
                       value == nullptr ? "missing"
                                        : printable(value->dump(-1, ' ', false,
                                                                Json::error_handler_t::replace))));
    return name;
  }

  /// A JSON list, or text between semicolons or bars; nothing is a picture of no class.
  std::vector<std::string> labels(const Record& record) const {
    const Json* given = value(record, columns_.label);
    if (given == nullptr) return {};
    std::vector<std::string> names;
    if (given->is_string()) {
      const std::string text = trimmed(given->get<std::string>());
      if (text.starts_with('[')) return listed(record, parse_list(record, text));
      for (std::size_t at = 0; at <= text.size();) {
        const std::size_t end = std::min(text.find_first_of(";|", at), text.size());
        const std::string name = trimmed(std::string_view(text).substr(at, end - at));
        if (!name.empty()) names.push_back(name);
        at = end + 1;
      }
      return names;
    }
    return listed(record, *given);
  }

  Json parse_list(const Record& record, const std::string& text) const {
    try {
      return parse_json(text, path_);
    } catch (const InputError& error) {
      fail(record, fmt::format("'{}': {}", printable(columns_.label), error.message()));
    }
  }

  std::vector<std::string> listed(const Record& record, const Json& list) const {
    if (!list.is_array())
      fail(record, fmt::format("'{}' must be a list of names", printable(columns_.label)));
    std::vector<std::string> names;
    names.reserve(list.size());
    for (const Json& name : list) names.push_back(label(record, &name));
    return names;
  }

  Split split(const Record& record, const fs::path& photo) const {
    const Json* given = value(record, "split");
    const std::string word =
        given == nullptr || !given->is_string() ? "" : trimmed(given->get<std::string>());
    if (given != nullptr && (!given->is_string() || (!word.empty() && !parse_split(word))))
      fail(record, fmt::format("split is '{}', expected train, validation or test",
                               given->is_string() ? printable(word) : given->dump()));
    if (!word.empty()) return *parse_split(word);
    // Hugging Face keeps photos of one table in folders named after splits.
    const fs::path first = photo.is_absolute() ? fs::path() : *photo.begin();
    return columns_.path == "file_name" ? parse_split(first.string()).value_or(Split::none)
                                        : Split::none;
  }

  double weight(const Record& record) const {
    const Json* given = value(record, "weight");
    if (given == nullptr) return 1;
    double result = NAN;
    if (given->is_number()) result = given->get<double>();
    if (given->is_string()) {
      const std::string text = trimmed(given->get<std::string>());
      if (text.empty()) return 1;
      const auto parsed = std::from_chars(text.data(), text.data() + text.size(), result);
      if (parsed.ec != std::errc() || parsed.ptr != text.data() + text.size()) result = NAN;
    }
    if (!(result >= 0) || !std::isfinite(result))
      fail(record,
           fmt::format("weight is {}, expected a number that is not negative",
                       printable(given->dump(-1, ' ', false, Json::error_handler_t::replace))));
    return result;
  }

  const std::string& path_;
  fs::path folder_;
  const Columns& columns_;
};

/// A table and the split that its place says.
struct Source {
  std::string path;
  Split split = Split::none;
};

void note_repeated(const std::vector<NamedSample>& named, LabelledImages& images) {
  std::set<std::string> seen;
  std::size_t repeated = 0;
  for (const NamedSample& each : named) repeated += seen.insert(each.sample.path).second ? 0 : 1;
  if (repeated > 0)
    images.notes.push_back(fmt::format("{} rows name a photo that another row names", repeated));
}

LabelledImages read_tables(const std::vector<Source>& sources, std::string taken_for) {
  LabelledImages images;
  images.source = std::move(taken_for);
  std::vector<NamedSample> named;
  for (const Source& source : sources) {
    const Table table = read_table(source.path);
    const Columns columns = find_columns(table, source.path);
    images.multi_label = images.multi_label || columns.several;
    const Rows rows(source.path, columns);
    named.reserve(named.size() + table.records.size());
    for (const Record& record : table.records) {
      named.push_back(rows.read(record));
      if (source.split != Split::none) named.back().sample.split = source.split;
    }
  }
  note_repeated(named, images);
  number_labels(std::move(named), images);
  return images;
}

std::vector<Source> metadata_tables(const std::string& folder) {
  std::vector<Source> found;
  const auto look = [&](const fs::path& inside, Split split) {
    for (const char* name : {"metadata.csv", "metadata.jsonl"}) {
      std::error_code ignored;
      if (fs::is_regular_file(inside / name, ignored))
        found.push_back({(inside / name).string(), split});
    }
  };
  look(folder, Split::none);
  for (const std::string& name : entries(folder).folders)
    if (const auto split = parse_split(name)) look(fs::path(folder) / name, *split);
  return found;
}

}  // namespace

LabelledImages read_manifest(const std::string& path) {
  return read_tables({{path, Split::none}},
                     fmt::format("the table {}", fs::path(path).filename().string()));
}

bool is_metadata_folder(const std::string& folder) { return !metadata_tables(folder).empty(); }

LabelledImages read_metadata_folder(const std::string& folder) {
  return read_tables(metadata_tables(folder), "a Hugging Face imagefolder with metadata");
}

std::vector<std::string> manifests_in(const std::string& folder) {
  std::vector<std::string> all;
  std::vector<std::string> named;
  std::vector<std::string> splits;
  const Entries inside = entries(folder);
  for (const std::string& name : inside.files) {
    if (!is_table(name)) continue;
    const std::string stem = fs::path(name).stem().string();
    const std::string path = (fs::path(folder) / name).string();
    all.push_back(path);
    if (stem == "labels" || stem == "manifest") named.push_back(path);
    if (parse_split(stem)) splits.push_back(path);
  }
  if (named.size() == 1) return named;
  if (!splits.empty()) return splits;
  return all.size() == 1 && inside.folders.size() < 2 ? all : std::vector<std::string>{};
}

LabelledImages read_manifests(const std::vector<std::string>& paths) {
  if (paths.size() == 1) return read_manifest(paths.front());
  std::vector<Source> sources;
  sources.reserve(paths.size());
  for (const std::string& path : paths)
    sources.push_back({path, parse_split(fs::path(path).stem().string()).value_or(Split::none)});
  return read_tables(sources, "tables named after splits");
}

}  // namespace vitascope::datasets
