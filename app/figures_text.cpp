#include "app/figures_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "app/output.h"

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

}  // namespace

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

std::string meaning_text(const FigureKind& kind) {
  return fmt::format("{}{}", direction(kind.better), kind.meaning);
}

std::string figure_text(const Figures& figures, std::string_view key) {
  const auto figure = find_figure(figures, key);
  return figure ? fmt::format("{:.3f}", figure->value) : "-";
}

std::string figure_table(const std::vector<FigureKind>& kinds,
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
      text += fmt::format("  {:>{}}", figure_text(*figures[i], kind->key), widths[i]);
    }
    if (columns.size() <= kColumnsWithMeaning) {
      text += "  " + meaning_text(*kind);
    }
    text += "\n";
  }
  return text;
}

Json figures_json(const Figures& figures) {
  Json json = Json::object();
  for (const auto& [key, figure] : figures) json[key] = figure.value;
  return json;
}

Json mean_figures_json(const Figures& figures) {
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

std::string short_number(double value) {
  std::string text = fmt::format("{:.2f}", value);
  if (text == "-0.00") text = "0.00";
  const auto zero = text.find("0.");
  return zero <= 1 && std::abs(value) < 0.995 ? text.erase(zero, 1) : text;
}

std::string with_interval(const Figure& figure) {
  if (!figure.interval) return short_number(figure.value);
  return fmt::format("{} ({} to {})", short_number(figure.value),
                     short_number(figure.interval->low), short_number(figure.interval->high));
}

}  // namespace vitascope::app
