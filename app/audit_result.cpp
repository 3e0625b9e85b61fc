#include "app/audit_result.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "app/figures_text.h"
#include "vit/text.h"

namespace vitascope::app {
namespace {

using explain::FigureKind;
using explain::Figures;
using Json = nlohmann::ordered_json;

std::string fill_text(const std::string& fill) {
  if (fill == "mean") return "the model's mean colour";
  return fill == "zero" ? "black" : "the photo, blurred";
}

Json curve_json(const explain::Curve& curve) {
  return {{"patches", curve.patches}, {"probability", curve.probability}};
}

Json map_json(const AuditedMapFigures& map, const explain::MapAudit& found) {
  Json json{{"label", map.label}, {"figures", figures_json(map.figures)}};
  if (found.faithfulness) {
    json["deletion"] = curve_json(found.faithfulness->deletion_most_first);
    json["insertion"] = curve_json(found.faithfulness->insertion_most_first);
  }
  Json cascade = Json::array();
  for (const explain::CascadeStage& stage : found.cascade) {
    cascade.push_back({{"forgotten", stage.part},
                       {"correlation", stage.correlation ? Json(*stage.correlation) : Json()}});
  }
  json["cascade"] = cascade;
  return json;
}

}  // namespace

std::string audit_text(const AuditFigures& audit, const std::vector<std::string>& verdict) {
  std::vector<std::pair<std::string, const Figures*>> columns;
  columns.reserve(audit.maps.size() + 1);
  for (const AuditedMapFigures& map : audit.maps) {
    columns.emplace_back(printable(map.label), &map.figures);
  }
  if (!audit.random.empty()) columns.emplace_back("chance", &audit.random);
  std::string text = figure_table(explain::map_figure_kinds(), columns);
  if (!audit.maps.empty() && audit.maps.front().figures.contains("deletion")) {
    text += "  (where a patch is taken away stands " + fill_text(audit.fill) + ")\n";
  }
  if (!audit.weights.empty()) {
    text += figure_table(explain::weight_figure_kinds(), {{"weights", &audit.weights}});
  }
  for (const std::string& sentence : verdict) text += "  " + sentence + "\n";
  return text;
}

nlohmann::ordered_json audit_json(const PhotoAuditResult& result,
                                  const std::vector<std::string>& verdict) {
  Json maps = Json::array();
  for (std::size_t i = 0; i < result.figures.maps.size(); ++i) {
    maps.push_back(map_json(result.figures.maps[i], result.found.maps[i]));
  }
  return {{"fill", result.figures.fill},
          {"maps", maps},
          {"random", figures_json(result.figures.random)},
          {"weights", figures_json(result.figures.weights)},
          {"verdict", verdict}};
}

nlohmann::ordered_json audit_json(const AuditFigures& audit,
                                  const std::vector<std::string>& verdict) {
  Json maps = Json::array();
  for (const AuditedMapFigures& map : audit.maps) {
    maps.push_back({{"label", map.label}, {"figures", mean_figures_json(map.figures)}});
  }
  return {{"photos", audit.photos},
          {"fill", audit.fill},
          {"maps", maps},
          {"random", mean_figures_json(audit.random)},
          {"weights", mean_figures_json(audit.weights)},
          {"verdict", verdict}};
}

std::vector<report::AuditRow> audit_rows(const AuditFigures& audit) {
  std::vector<report::AuditRow> rows;
  const auto add = [&](const std::string& of, const std::vector<FigureKind>& kinds,
                       const Figures& figures) {
    for (const FigureKind* kind : measured(kinds, {&figures})) {
      rows.push_back({fmt::format("{}: {}", of, kind->heading), figure_text(figures, kind->key),
                      meaning_text(*kind)});
    }
  };
  for (const AuditedMapFigures& map : audit.maps) {
    add(map.label, explain::map_figure_kinds(), map.figures);
  }
  add("random maps", explain::map_figure_kinds(), audit.random);
  add("attention weights", explain::weight_figure_kinds(), audit.weights);
  return rows;
}

}  // namespace vitascope::app
