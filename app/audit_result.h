#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "app/photo_audit.h"
#include "app/report/report.h"

/// \file
/// An audit as a table, as JSON, and as rows of the page. Keys of figures are those of
/// explain::map_figure_kinds() and explain::weight_figure_kinds().
namespace vitascope::app {

/// A line for each measure, a column for each map and the random ones, the verdict below.
std::string audit_text(const AuditFigures& audit, const std::vector<std::string>& verdict);

/// Of one photo: {"fill": mean|zero|blur, "maps": [{"label", "figures": {KEY: NUMBER}, "deletion":
/// {"patches", "probability"}, "insertion": the same, "cascade": [{"forgotten", "correlation"}]}],
/// "random": {KEY: NUMBER}, "weights": {KEY: NUMBER}, "verdict": [SENTENCE]}.
nlohmann::ordered_json audit_json(const PhotoAuditResult& result,
                                  const std::vector<std::string>& verdict);

/// Of many: {"photos", "fill", "maps": [{"label", "figures": {KEY: {"mean", "low", "high",
/// "photos"}}}], "random", "weights", "verdict"}; low and high bound the mean by the bootstrap over
/// photos, 95 %.
nlohmann::ordered_json audit_json(const AuditFigures& audit,
                                  const std::vector<std::string>& verdict);

/// For the page.
std::vector<report::AuditRow> audit_rows(const AuditFigures& audit);

}  // namespace vitascope::app
