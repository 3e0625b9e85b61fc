#include "app/report/report.h"

#include <fmt/format.h>

#include "app/report/packed_maps.h"
#include "app/report/page.h"
#include "app/report/page_json.h"
#include "vit/error.h"
#include "vit/file.h"
#include "vit/text.h"

namespace vitascope::app::report {
namespace {

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
