#pragma once

#include <string>

#include "app/map_maker.h"
#include "app/report/report.h"

/// \file
/// A photo and its maps as what the HTML page shows.
namespace vitascope::app {

/// \param photo made by a MapMaker that keeps layers
/// \throws InputError when a map holds NaN
report::Report page_of(const ExplainedPhoto& photo, const weights::Model& model);

}  // namespace vitascope::app
