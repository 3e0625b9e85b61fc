#pragma once

#include <string>
#include <vector>

#include "app/photo_audit.h"

/// \file
/// What an audit's numbers mean, in plain words.
namespace vitascope::app {

/// One sentence a question that was measured, of the first map and the attention weights; each with
/// its numbers, and how sure they are.
std::vector<std::string> verdict(const AuditFigures& audit, int random_maps);

}  // namespace vitascope::app
