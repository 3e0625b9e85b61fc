#include "datasets/caption_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <optional>
#include <span>
#include <utility>

#include "datasets/csv.h"
#include "vit/error.h"
#include "vit/text.h"

namespace vitascope::datasets {
namespace {

constexpr std::string_view kPhotoColumns[] = {"image",     "image_name", "filename",
                                              "file_name", "path",       "file"};
constexpr std::string_view kCaptionColumns[] = {"caption", "comment", "sentence", "text"};

std::string_view trimmed(std::string_view text) {
  const std::size_t begin = text.find_first_not_of(" \t\r");
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(" \t\r") - begin + 1);
}

/// The next line without its end; `text` becomes what follows.
std::string_view take_line(std::string_view& text) {
  const std::size_t end = std::min(text.find('\n'), text.size());
  const std::string_view line = text.substr(0, end);
  text.remove_prefix(std::min(end + 1, text.size()));
  return line.ends_with('\r') ? line.substr(0, line.size() - 1) : line;
}

/// "image.jpg" of "image.jpg#0"; nothing where no number of digits follows the last '#'.
std::optional<std::string_view> photo_of(std::string_view name) {
  const std::size_t mark = name.rfind('#');
  if (mark == std::string_view::npos || mark == 0 || mark + 1 == name.size()) return std::nullopt;
  if (name.find_first_not_of("0123456789", mark + 1) != std::string_view::npos) return std::nullopt;
  return name.substr(0, mark);
}

void add(std::string_view photo, std::string caption, CaptionedImages& images) {
  CaptionedImage& image = images.photos.emplace_back();
  image.path = std::string(photo);
  image.id = std::filesystem::path(photo).filename().string();
  image.captions.push_back(std::move(caption));
}

/// Where the columns are that matter.
struct Columns {
  std::size_t photo = 0, caption = 0, count = 0;
};

std::optional<std::size_t> column_of(const std::vector<std::string>& fields,
                                     std::span<const std::string_view> names) {
  for (std::size_t i = 0; i < fields.size(); ++i)
    if (std::ranges::find(names, lower_case(std::string(trimmed(fields[i])))) != names.end())
      return i;
  return std::nullopt;
}

std::optional<Columns> columns_of(const std::vector<std::string>& fields) {
  const auto photo = column_of(fields, kPhotoColumns);
  const auto caption = column_of(fields, kCaptionColumns);
  if (!photo || !caption) return std::nullopt;
  return Columns{*photo, *caption, fields.size()};
}

std::vector<std::string> between_bars(std::string_view line) {
  std::vector<std::string> fields;
  for (std::size_t begin = 0; begin <= line.size();) {
    const std::size_t end = std::min(line.find('|', begin), line.size());
    fields.emplace_back(trimmed(line.substr(begin, end - begin)));
    begin = end + 1;
  }
  return fields;
}

/// Captions in the last column may hold the separator.
void join_last(std::vector<std::string>& fields, const Columns& columns, char separator) {
  if (columns.caption + 1 != columns.count) return;
  for (std::size_t i = columns.count; i < fields.size(); ++i)
    fields[columns.caption].append(1, separator).append(fields[i]);
  fields.resize(std::min(fields.size(), columns.count));
}

CaptionedImages parse_bars(std::string_view text) {
  CaptionedImages images;
  images.source = "a table of captions";
  const auto columns = columns_of(between_bars(take_line(text)));
  std::vector<std::string> short_lines;
  for (std::size_t number = 2; !text.empty(); ++number) {
    const std::string_view line = take_line(text);
    if (trimmed(line).empty()) continue;
    std::vector<std::string> fields = between_bars(line);
    join_last(fields, *columns, '|');
    if (fields.size() == columns->count) {
      add(fields[columns->photo], std::move(fields[columns->caption]), images);
    } else {
      short_lines.push_back(fmt::format("line {}", number));
    }
  }
  if (!short_lines.empty())
    images.notes.push_back(fmt::format("{} lines don't have {} fields and are left out: {}",
                                       short_lines.size(), columns->count, first_few(short_lines)));
  return images;
}

CaptionedImages parse_separated(std::string_view text, const std::string& path) {
  CaptionedImages images;
  images.source = "a table of captions";
  std::vector<CsvRow> rows = parse_csv(text, path);
  const auto columns = columns_of(rows.front().fields);
  // Quotes around several names make one of them.
  if (!columns) throw InputError(path, "line 1: expected column names, as 'image,caption'");
  const char separator = text[text.find_first_of(",;\t")];
  images.photos.reserve(rows.size() - 1);
  for (std::size_t r = 1; r < rows.size(); ++r) {
    std::vector<std::string>& fields = rows[r].fields;
    join_last(fields, *columns, separator);
    if (fields.size() != columns->count)
      throw InputError(path, fmt::format("line {}: {} fields, expected {} as in the first line",
                                         rows[r].line, fields.size(), columns->count));
    add(trimmed(fields[columns->photo]), std::move(fields[columns->caption]), images);
  }
  return images;
}

std::string_view first_line(std::string_view text) { return take_line(text); }

bool has_bars(std::string_view text) {
  return columns_of(between_bars(first_line(text))).has_value();
}

}  // namespace

bool is_token_file(std::string_view text) {
  const std::string_view line = first_line(text);
  return photo_of(line.substr(0, line.find('\t'))).has_value() &&
         line.find('\t') != std::string_view::npos;
}

CaptionedImages parse_token_file(std::string_view text, const std::string& path) {
  CaptionedImages images;
  images.source = "a token file of captions";
  for (std::size_t number = 1; !text.empty(); ++number) {
    const std::string_view line = take_line(text);
    if (trimmed(line).empty()) continue;
    const std::size_t tab = line.find('\t');
    const auto photo = photo_of(line.substr(0, tab));
    if (!photo || tab == std::string_view::npos)
      throw InputError(path, fmt::format("line {}: expected 'image.jpg#0', a tab and a caption; it "
                                         "begins with '{}'",
                                         number, printable(line.substr(0, 40))));
    add(*photo, std::string(line.substr(tab + 1)), images);
  }
  return images;
}

bool is_caption_table(std::string_view text) {
  if (has_bars(text)) return true;
  std::string line(first_line(text));
  std::erase(line, '"');
  const std::vector<CsvRow> rows = parse_csv(line, "");
  return !rows.empty() && columns_of(rows.front().fields).has_value();
}

CaptionedImages parse_caption_table(std::string_view text, const std::string& path) {
  return has_bars(text) ? parse_bars(text) : parse_separated(text, path);
}

std::vector<std::string> parse_name_list(std::string_view text) {
  std::vector<std::string> names;
  while (!text.empty())
    if (const std::string_view name = trimmed(take_line(text)); !name.empty())
      names.emplace_back(name);
  return names;
}

}  // namespace vitascope::datasets
