#include "app/audit_result.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "app/output.h"
#include "vit/text.h"

namespace vitascope::app {
namespace {

using explain::Better;
using explain::Figure;
using explain::FigureKind;
using explain::Figures;
using explain::find_figure;
using Json = nlohmann::ordered_json;

/// Beside more columns than these the meaning of a line would not fit on a screen.
constexpr std::size_t kColumnsWithMeaning = 4;

std::string direction(Better better) {
  if (better == Better::lower) return "lower is better: ";
  return better == Better::higher ? "higher is better: " : "";
}

/// Every measure that any column has.
std::vector<const FigureKind*> measured(const std::vector<FigureKind>& kinds,
                                        const std::vector<const Figures*>& columns) {
  std::vector<const FigureKind*> found;
  for (const FigureKind& kind : kinds) {
    const bool there = std::ranges::any_of(
        columns, [&](const Figures* column) { return column->contains(kind.key); });
    if (there) found.push_back(&kind);
  }
  return found;
}

std::string fill_text(const std::string& fill) {
  if (fill == "mean") return "the model's mean colour";
  return fill == "zero" ? "black" : "the photo, blurred";
}

std::string cell(const Figures& figures, std::string_view key) {
  const auto figure = find_figure(figures, key);
  return figure ? fmt::format("{:.3f}", figure->value) : "-";
}

std::string table(const std::vector<FigureKind>& kinds,
                  const std::vector<std::pair<std::string, const Figures*>>& columns) {
  std::vector<const Figures*> figures;
  std::vector<int> widths;
  std::string text = std::string(22, ' ');
  for (const auto& [label, column] : columns) {
    figures.push_back(column);
    widths.push_back(std::max(7, output::display_width(label)));
    text += fmt::format("  {:>{}}", label, widths.back());
  }
  text += "\n";
  for (const FigureKind* kind : measured(kinds, figures)) {
    text += fmt::format("  {:<20}", kind->heading);
    for (std::size_t i = 0; i < columns.size(); ++i) {
      text += fmt::format("  {:>{}}", cell(*figures[i], kind->key), widths[i]);
    }
    if (columns.size() <= kColumnsWithMeaning) {
      text += fmt::format("  {}{}", direction(kind->better), kind->meaning);
    }
    text += "\n";
  }
  return text;
}

Json plain_json(const Figures& figures) {
  Json json = Json::object();
  for (const auto& [key, figure] : figures) json[key] = figure.value;
  return json;
}

Json mean_json(const Figures& figures) {
  Json json = Json::object();
  for (const auto& [key, figure] : figures) {
    Json one{
        {"mean", figure.value}, {"low", nullptr}, {"high", nullptr}, {"photos", figure.photos}};
    if (figure.interval) {
      one["low"] = figure.interval->low;
      one["high"] = figure.interval->high;
    }
    json[key] = one;
  }
  return json;
}

Json curve_json(const explain::Curve& curve) {
  return {{"patches", curve.patches}, {"probability", curve.probability}};
}

Json map_json(const AuditedMapFigures& map, const explain::MapAudit& found) {
  Json json{{"label", map.label}, {"figures", plain_json(map.figures)}};
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
  std::string text = table(explain::map_figure_kinds(), columns);
  if (!audit.maps.empty() && audit.maps.front().figures.contains("deletion")) {
    text += "  (where a patch is taken away stands " + fill_text(audit.fill) + ")\n";
  }
  if (!audit.weights.empty()) {
    text += table(explain::weight_figure_kinds(), {{"weights", &audit.weights}});
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
          {"random", plain_json(result.figures.random)},
          {"weights", plain_json(result.figures.weights)},
          {"verdict", verdict}};
}

nlohmann::ordered_json audit_json(const AuditFigures& audit,
                                  const std::vector<std::string>& verdict) {
  Json maps = Json::array();
  for (const AuditedMapFigures& map : audit.maps) {
    maps.push_back({{"label", map.label}, {"figures", mean_json(map.figures)}});
  }
  return {{"photos", audit.photos},
          {"fill", audit.fill},
          {"maps", maps},
          {"random", mean_json(audit.random)},
          {"weights", mean_json(audit.weights)},
          {"verdict", verdict}};
}

std::vector<report::AuditRow> audit_rows(const AuditFigures& audit) {
  std::vector<report::AuditRow> rows;
  const auto add = [&](const std::string& of, const std::vector<FigureKind>& kinds,
                       const Figures& figures) {
    for (const FigureKind* kind : measured(kinds, {&figures})) {
      rows.push_back({fmt::format("{}: {}", of, kind->heading), cell(figures, kind->key),
                      fmt::format("{}{}", direction(kind->better), kind->meaning)});
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
