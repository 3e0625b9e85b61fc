#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <utility>
#include <vector>

#include "vit/explain/audit_figures.h"

/// \file
/// Numbers of audits as a table, as JSON and in sentences.
namespace vitascope::app {

/// Every measure that any column has.
std::vector<const explain::FigureKind*> measured(
    const std::vector<explain::FigureKind>& kinds,
    const std::vector<const explain::Figures*>& columns);

/// What a line of a table says of its measure: "lower is better: ..."
std::string meaning_text(const explain::FigureKind& kind);

/// "0.123", or "-" where it was not measured.
std::string figure_text(const explain::Figures& figures, std::string_view key);

/// A line for each measure that any column has; beside few columns what it means.
std::string figure_table(
    const std::vector<explain::FigureKind>& kinds,
    const std::vector<std::pair<std::string, const explain::Figures*>>& columns);

/// {KEY: NUMBER}
nlohmann::ordered_json figures_json(const explain::Figures& figures);

/// {KEY: {"mean", "low", "high", "photos"}}
nlohmann::ordered_json mean_figures_json(const explain::Figures& figures);

/// ".21" or "-.03": no zero before the point, as tables of the field print it.
std::string short_number(double value);

/// ".21 (.15 to .27)", or without the interval where there is none.
std::string with_interval(const explain::Figure& figure);

}  // namespace vitascope::app
