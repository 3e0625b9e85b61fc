#pragma once

#include <string>
#include <vector>

#include "vit/classifier.h"
#include "vit/image/picture.h"

/// \file
/// Results on stdout as text, JSON (one object a line) or CSV.
namespace vitascope::app::output {

enum class Format { text, json, csv };
/// \throws UsageError listing the names
Format parse_format(const std::string& name);

/// What classify says of one photo.
struct Classification {
  std::string path;
  image::Size size;
  std::vector<Prediction> predictions;  ///< likeliest first
  double milliseconds = 0;              ///< decode + prepare + this photo's share of its batch
};

/// Prints one photo's predictions. Text: label first, aligned, with a probability bar when stdout is
/// a terminal. Strings of files are escaped (text, CSV) or JSON-encoded.
void print(const Classification& result, Format format);

/// A field for CSV: quoted where needed, control characters escaped, and a leading = + - @ defused.
std::string csv_field(const std::string& text);

}  // namespace vitascope::app::output
