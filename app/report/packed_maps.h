#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

/// \file
/// Maps in 8 bits a cell, as text.
namespace vitascope::app::report {

/// Maps of equal size. Level q of map m stands for low[m] + (high[m] - low[m]) * q / 255, so that a
/// value is off by at most half a step.
struct PackedMaps {
  std::vector<float> low, high;  ///< [M]: least and greatest value of each map
  std::string levels;            ///< [M, N] bytes in base64
};

/// Packs `maps` [M, N] of N = `cells` values each.
/// \param name what the maps are, for the error
/// \throws InternalError when there are no maps, the last is cut short, or a value is not finite
PackedMaps pack(std::span<const float> maps, std::size_t cells, const std::string& name);

/// `bytes` in base64 with padding (RFC 4648, section 4).
std::string base64(std::string_view bytes);

}  // namespace vitascope::app::report
