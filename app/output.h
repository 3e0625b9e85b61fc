#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "vit/classifier.h"
#include "vit/image/picture.h"

/// \file
/// Results on stdout as text, JSON (one object a line) or CSV; messages on stderr.
namespace vitascope::app::output {

/// What --format chooses.
enum class Format { text, json, csv };
/// \throws UsageError listing the names
Format parse_format(const std::string& name);

/// Milliseconds that a photo took.
struct Timing {
  double decode = 0;
  double prepare = 0;  ///< resize, crop, normalise
  double model = 0;    ///< its share of its batch
};

/// What classify says of one photo.
struct Classification {
  std::string path;
  image::Size size;                     ///< upright, as a person sees it
  std::vector<Prediction> predictions;  ///< likeliest first; empty: none reached the threshold
  Timing timing;
};

/// One photo's predictions as lines that end in a newline. Text: label first, aligned, followed by
/// a bar when `bars`. Strings of files are escaped (text, CSV) or JSON-encoded.
std::string render(const Classification& result, Format format, bool bars);

/// The line before the first result: CSV's column names, nothing for text and JSON.
std::string header(Format format);

/// Writes to stdout, and fails at once when that is impossible (a full disk, a closed pipe).
/// \throws FailureError
void print(const std::string& text);

/// True when stdout is a terminal.
bool on_terminal();

/// A field for CSV: quoted where needed, control characters escaped, and a leading = + - @ defused.
std::string csv_field(const std::string& text);

/// The object on one line; bytes that are not UTF-8 become U+FFFD.
std::string json_line(const nlohmann::ordered_json& object);

/// `text` as a JSON string with its quotes; bytes that are not UTF-8 become U+FFFD.
std::string json_string(const std::string& text);

/// `vitascope: error: ...` on stderr, one line whatever the message holds.
void error(const std::string& message);
/// `vitascope: warning: ...`
void warning(const std::string& message);
/// `vitascope: ...`
void note(const std::string& message);

/// Columns that `text` takes on a terminal: wide characters count two, combining ones none.
int display_width(const std::string& text);

}  // namespace vitascope::app::output
