#pragma once

#include <string>
#include <vector>

#include "app/drawing/cell_map.h"

/// \file
/// Round numbers for axes and colour bars.
namespace vitascope::drawing {

/// The places of an axis that carry numbers.
struct Ticks {
  std::vector<double> values;  ///< ascending, inside the range
  double step = 0;             ///< 1, 2 or 5 times a power of ten
};

/// The multiples of the smallest round step that gives at most `most` (at least 2) of them inside
/// `range`. A range of one value has that value as its only tick.
Ticks round_ticks(Range range, int most);

/// `value` with as many decimals as `step` needs; as 2e-07 where that would be long.
std::string tick_label(double value, double step);

/// `value` to three significant digits, as a number beside a bar needs it.
std::string short_number(double value);

}  // namespace vitascope::drawing
