#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "vit/explain/audit.h"
#include "vit/explain/statistics.h"

/// \file
/// What an audit found as single numbers, by name: of one photo, or the means over many.
namespace vitascope::explain {

/// Which way a number should point.
enum class Better { lower, higher, neither };

/// A number that audits give.
struct FigureKind {
  std::string_view key;      ///< in JSON
  std::string_view heading;  ///< short, for a table
  std::string_view meaning;  ///< in one clause
  Better better = Better::neither;
};

/// Of a map, in the order in which they are shown.
const std::vector<FigureKind>& map_figure_kinds();
/// Of the attention weights of the last layer.
const std::vector<FigureKind>& weight_figure_kinds();

/// A number, and how sure it is.
struct Figure {
  double value = 0;
  std::optional<Interval> interval;  ///< 95 % by the bootstrap
  std::int64_t photos = 1;           ///< that it is the mean of
};

/// Numbers by the key of their kind; what was not measured is not there.
using Figures = std::map<std::string, Figure, std::less<>>;

/// The number, or nothing.
std::optional<Figure> find_figure(const Figures& figures, std::string_view key);

/// Of a map, and of what it has before the random maps: there the interval comes from the random
/// maps.
Figures figures_of(const MapAudit& map, const std::vector<MapAudit>& controls);
/// The mean of the controls.
Figures figures_of(const std::vector<MapAudit>& controls);
Figures figures_of(const WeightsAudit& weights);

/// Means over photos, with intervals by the bootstrap over photos. A photo without a number does
/// not count for it.
Figures mean_figures(const std::vector<Figures>& photos);

}  // namespace vitascope::explain
