#pragma once

#include "vit/explain/map.h"
#include "vit/model/config.h"

/// \file
/// The control that every table of methods carries: a map that knows nothing (Adebayo et al. 2018,
/// arXiv:1810.03292, on why there must be one).
namespace vitascope::explain {

/// map_j uniform in [0, 1), independent; the same for the same seed on every machine.
Map random_map(model::Grid grid, std::uint64_t seed);

}  // namespace vitascope::explain
