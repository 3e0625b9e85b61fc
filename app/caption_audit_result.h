#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "app/caption_audit.h"

/// \file
/// The audit of a caption as text and JSON, and what its numbers mean in plain words.
namespace vitascope::app {

/// One sentence a question that was measured, with its numbers and how sure they are.
std::vector<std::string> verdict(const CaptionAuditFigures& audit);

/// A line for each measure, a column for each attention, the verdict below.
std::string audit_text(const CaptionAuditFigures& audit);

/// Of one photo: {"permutations", "own": {KEY: NUMBER}, "permuted", "uniform": the same,
/// "sentences": {"permuted": [SENTENCE], "uniform": SENTENCE}, "verdict": [SENTENCE]}, and where
/// objects are known "nouns": [{"word", "position", "category", "own", "permuted", "uniform"}] and
/// "narrow".
nlohmann::ordered_json audit_json(const CaptionAudit& audit);

/// Of many: {"photos", "own": {KEY: {"mean", "low", "high", "photos"}}, "permuted", "uniform",
/// "verdict"}, and where objects are known the numbers of "nouns" and "narrow".
nlohmann::ordered_json audit_json(const CaptionAuditFigures& audit);

}  // namespace vitascope::app
