#include "app/output.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <nlohmann/json.hpp>

#include "vit/error.h"
#include "vit/text.h"

namespace vitascope::app::output {
namespace {

constexpr int kBarColumns = 32;

/// A bar of whole and eighth blocks.
std::string bar(double probability) {
  static constexpr const char* kEighths[] = {"", "▏", "▎", "▍", "▌", "▋", "▊", "▉"};
  const int eighths =
      static_cast<int>(std::lround(std::clamp(probability, 0.0, 1.0) * kBarColumns * 8));
  std::string text;
  for (int i = 0; i < eighths / 8; ++i) text += "█";
  return text + kEighths[eighths % 8];
}

std::string render_text(const Classification& result, bool bars) {
  std::vector<std::string> labels;
  int width = 0;
  for (const Prediction& prediction : result.predictions) {
    labels.push_back(printable(prediction.label));
    width = std::max(width, display_width(labels.back()));
  }
  std::string text = printable(result.path) + "\n";
  if (labels.empty()) text += "  (nothing reaches the threshold)\n";
  for (std::size_t i = 0; i < labels.size(); ++i) {
    const double probability = result.predictions[i].probability;
    const auto padding = static_cast<std::size_t>(width - display_width(labels[i]));
    text += fmt::format("  {}{}  {:.4f}", labels[i], std::string(padding, ' '), probability);
    if (bars) text += "  " + bar(probability);
    text += "\n";
  }
  return text;
}

std::string render_json(const Classification& result) {
  nlohmann::ordered_json predictions = nlohmann::ordered_json::array();
  for (const Prediction& prediction : result.predictions) {
    predictions.push_back({{"index", prediction.index},
                           {"label", prediction.label},
                           {"probability", prediction.probability}});
  }
  const nlohmann::ordered_json object = {{"path", result.path},
                                         {"size", {result.size.width, result.size.height}},
                                         {"predictions", predictions},
                                         {"timing",
                                          {{"decode_ms", result.timing.decode},
                                           {"prepare_ms", result.timing.prepare},
                                           {"model_ms", result.timing.model}}}};
  return json_line(object);
}

std::string render_csv(const Classification& result) {
  const std::string photo =
      fmt::format("{},{},{}", csv_field(result.path), result.size.width, result.size.height);
  // A photo without predictions keeps its row, so that none is lost.
  if (result.predictions.empty()) return photo + ",,,,\n";
  std::string text;
  int rank = 0;
  for (const Prediction& prediction : result.predictions) {
    text += fmt::format("{},{},{},{},{:.6g}\n", photo, ++rank, prediction.index,
                        csv_field(prediction.label), prediction.probability);
  }
  return text;
}

/// Decodes the code point at `i` of well-formed UTF-8 and moves on.
char32_t next_code_point(const std::string& text, std::size_t& i) {
  const auto lead = static_cast<unsigned char>(text[i++]);
  const int more = lead >= 0xF0 ? 3 : lead >= 0xE0 ? 2 : lead >= 0xC0 ? 1 : 0;
  char32_t code = more == 0 ? lead : lead & (0x3F >> more);
  for (int k = 0; k < more && i < text.size(); ++k) {
    code = code << 6 | (static_cast<unsigned char>(text[i++]) & 0x3F);
  }
  return code;
}

bool combining(char32_t code) {
  return (code >= 0x300 && code <= 0x36F) || (code >= 0x200B && code <= 0x200F) ||
         (code >= 0xFE00 && code <= 0xFE0F) || (code >= 0x20D0 && code <= 0x20FF);
}

/// East Asian wide characters and emoji.
bool wide(char32_t code) {
  return (code >= 0x1100 && code <= 0x115F) || (code >= 0x2E80 && code <= 0xA4CF) ||
         (code >= 0xAC00 && code <= 0xD7A3) || (code >= 0xF900 && code <= 0xFAFF) ||
         (code >= 0xFE30 && code <= 0xFE6F) || (code >= 0xFF00 && code <= 0xFF60) ||
         (code >= 0xFFE0 && code <= 0xFFE6) || (code >= 0x1F300 && code <= 0x1FAFF) ||
         (code >= 0x20000 && code <= 0x3FFFD);
}

void message(const char* kind, const std::string& text) {
  std::fprintf(stderr, "vitascope: %s%s\n", kind, printable(text).c_str());
}

}  // namespace

Format parse_format(const std::string& name) {
  if (name == "text") return Format::text;
  if (name == "json") return Format::json;
  if (name == "csv") return Format::csv;
  throw UsageError(fmt::format("--format: '{}' is none of text, json, csv", printable(name)));
}

std::string render(const Classification& result, Format format, bool bars) {
  switch (format) {
    case Format::json:
      return render_json(result);
    case Format::csv:
      return render_csv(result);
    case Format::text:
      break;
  }
  return render_text(result, bars);
}

std::string header(Format format) {
  return format == Format::csv ? "path,width,height,rank,index,label,probability\n" : "";
}

void print(const std::string& text) {
  if (std::fwrite(text.data(), 1, text.size(), stdout) == text.size() && std::fflush(stdout) == 0) {
    return;
  }
  throw FailureError(std::string("the results can't be written to standard output: ") +
                     std::strerror(errno));
}

bool on_terminal() { return isatty(STDOUT_FILENO) == 1; }

std::string csv_field(const std::string& text) {
  std::string field = printable(text);
  // A spreadsheet would run these as formulas; the apostrophe makes them text.
  if (!field.empty() && std::string_view("=+-@").find(field.front()) != std::string_view::npos) {
    field.insert(field.begin(), '\'');
  }
  if (field.find_first_of(",\"") == std::string::npos && field.find(' ') != 0) return field;
  std::string quoted = "\"";
  for (const char c : field) {
    if (c == '"') quoted += '"';
    quoted += c;
  }
  return quoted + "\"";
}

std::string json_line(const nlohmann::ordered_json& object) {
  return object.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n";
}

std::string json_string(const std::string& text) {
  return nlohmann::json(text).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

void error(const std::string& text) { message("error: ", text); }
void warning(const std::string& text) { message("warning: ", text); }
void note(const std::string& text) { message("", text); }

int display_width(const std::string& text) {
  int width = 0;
  for (std::size_t i = 0; i < text.size();) {
    const char32_t code = next_code_point(text, i);
    width += combining(code) ? 0 : wide(code) ? 2 : 1;
  }
  return width;
}

}  // namespace vitascope::app::output
