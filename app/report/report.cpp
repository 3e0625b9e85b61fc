#include "app/report/report.h"

#include <fmt/format.h>

#include <array>
#include <charconv>
#include <nlohmann/json.hpp>

#include "app/report/packed_maps.h"
#include "app/report/page.h"
#include "vit/error.h"
#include "vit/file.h"
#include "vit/text.h"

namespace vitascope::app::report {
namespace {

using Json = nlohmann::ordered_json;

/// The double whose shortest decimal is that of the float: nine digits in the page, not seventeen.
double short_decimal(float value) {
  std::array<char, 32> text{};
  const auto end = std::to_chars(text.data(), text.data() + text.size(), value).ptr;
  double result = 0;
  std::from_chars(text.data(), end, result);
  return result;
}

Json numbers(const std::vector<float>& values) {
  Json array = Json::array();
  for (const float value : values) array.push_back(short_decimal(value));
  return array;
}

Json packed(std::span<const float> maps, std::size_t cells, const std::string& name) {
  const PackedMaps result = pack(maps, cells, name);
  return {{"low", numbers(result.low)}, {"high", numbers(result.high)}, {"levels", result.levels}};
}

Json rectangle(const image::Rectangle& edges) {
  return {edges.left, edges.top, edges.right - edges.left, edges.bottom - edges.top};
}

/// The mean of the heads, followed by the heads: [1 + H, N].
std::vector<float> with_mean(const std::vector<float>& heads, std::size_t cells) {
  std::vector<float> maps(cells);
  const std::size_t count = heads.size() / cells;
  for (std::size_t cell = 0; cell < cells; ++cell) {
    double sum = 0;
    for (std::size_t head = 0; head < count; ++head) sum += heads[head * cells + cell];
    maps[cell] = static_cast<float>(sum / static_cast<double>(count));
  }
  maps.insert(maps.end(), heads.begin(), heads.end());
  return maps;
}

Json layers(const Report& report, std::size_t cells) {
  Json list = Json::array();
  for (const Layer& layer : report.layers) {
    const std::string name = fmt::format("layer {}", layer.index);
    if (layer.heads.empty() || layer.heads.size() % cells != 0 ||
        layer.heads.size() != report.layers.front().heads.size() ||
        (!layer.patches.empty() && layer.patches.size() != cells * cells)) {
      throw InternalError(fmt::format(
          "report: {} holds {} values of heads and {} of patches, expected those of {} cells", name,
          layer.heads.size(), layer.patches.size(), cells));
    }
    Json entry = {{"index", layer.index},
                  {"heads", packed(with_mean(layer.heads, cells), cells, name)}};
    if (!layer.patches.empty()) entry["patches"] = packed(layer.patches, cells, name);
    list.push_back(std::move(entry));
  }
  return list;
}

Json methods(const Report& report, std::size_t cells) {
  Json list = Json::array();
  for (const MethodMap& method : report.methods) {
    if (method.values.size() != cells) {
      throw InternalError(fmt::format("report: the map '{}' holds {} values, expected {}",
                                      method.name, method.values.size(), cells));
    }
    list.push_back({{"name", printable(method.name)},
                    {"what", printable(method.what)},
                    {"citation", printable(method.citation)},
                    {"label", printable(method.label)},
                    {"map", packed(method.values, cells, method.name)}});
  }
  return list;
}

Json content(const Report& report) {
  const auto cells =
      static_cast<std::size_t>(report.rows) * static_cast<std::size_t>(report.columns);
  Json predictions = Json::array();
  for (const Prediction& prediction : report.predictions) {
    predictions.push_back(
        {{"label", printable(prediction.label)}, {"probability", prediction.probability}});
  }
  Json audit = Json::array();
  for (const AuditRow& row : report.audit) {
    audit.push_back({printable(row.name), printable(row.value), printable(row.meaning)});
  }
  Json notes = Json::array();
  for (const std::string& note : report.notes) notes.push_back(printable(note));
  return {{"title", printable(report.title)},
          {"model", printable(report.model)},
          {"photo", printable(report.photo)},
          {"size", {report.size.width, report.size.height}},
          {"input", printable(report.input)},
          {"grid", {report.rows, report.columns}},
          {"cell", rectangle(report.cell)},
          {"seen", rectangle(report.seen)},
          {"source", printable(report.source)},
          {"predictions", predictions},
          {"layers", layers(report, cells)},
          {"methods", methods(report, cells)},
          {"audit", audit},
          {"verdict", printable(report.verdict)},
          {"notes", notes}};
}

/// JSON that can't end the element that it stands in. These characters occur within strings only,
/// where an escape says the same.
std::string for_script(const Json& json) {
  const std::string text = json.dump();
  std::string safe;
  safe.reserve(text.size());
  for (std::size_t i = 0; i < text.size(); ++i) {
    const std::string_view separator = std::string_view(text).substr(i, 3);
    if (text[i] == '<' || text[i] == '>' || text[i] == '&') {
      safe += fmt::format("\\u{:04x}", static_cast<int>(text[i]));
    } else if (separator == "\u2028" || separator == "\u2029") {
      safe += separator == "\u2028" ? "\\u2028" : "\\u2029";
      i += 2;
    } else {
      safe.push_back(text[i]);
    }
  }
  return safe;
}

}  // namespace

std::string render(const Report& report) {
  std::string page(kPage[0]);
  page += base64(report.jpeg);
  page += kPage[1];
  page += for_script(content(report));
  page += kPage[2];
  return page;
}

void write_html(const std::string& path, const Report& report, bool force) {
  write_file(path, force, render(report));
}

}  // namespace vitascope::app::report
