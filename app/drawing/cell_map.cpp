#include "app/drawing/cell_map.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "vit/error.h"

namespace vitascope::drawing {
namespace {

/// Up to four cells along one axis and their weights; the first cell is -1 where nothing was seen.
struct Taps {
  std::array<int, 4> cell{-1, 0, 0, 0};
  std::array<double, 4> weight{};
  int count = 0;
};

/// Keys' cubic convolution kernel with a = -0.5.
double cubic(double distance) {
  constexpr double a = -0.5;
  const double d = std::abs(distance);
  if (d < 1) return ((a + 2) * d - (a + 3)) * d * d + 1;
  if (d < 2) return ((d - 5) * d + 8) * d * a - 4 * a;
  return 0;
}

/// The cells that matter at `position`, counted in cells from the edge of the grid.
Taps taps_at(double position, int nearest, int cells, Upsampling upsampling) {
  Taps taps;
  if (upsampling == Upsampling::nearest) {
    taps.cell[0] = nearest;
    taps.weight[0] = 1;
    taps.count = 1;
    return taps;
  }
  taps.count = upsampling == Upsampling::bilinear ? 2 : 4;
  // The last cell whose centre is not beyond, and the cells before it.
  const double before = std::floor(position - 0.5);
  const int first = taps.count == 2 ? 0 : -1;
  for (int i = 0; i < taps.count; ++i) {
    const double centre = before + first + i;
    const double distance = position - 0.5 - centre;
    const auto at = static_cast<std::size_t>(i);
    taps.cell[at] = std::clamp(static_cast<int>(centre), 0, cells - 1);
    taps.weight[at] = taps.count == 2 ? 1 - std::abs(distance) : cubic(distance);
  }
  return taps;
}

/// The taps of each column (or each row) of a photo drawn `pixels` wide (or high).
std::vector<Taps> axis(const image::View& view, bool along_x, int pixels, int cells,
                       Upsampling upsampling) {
  const image::Rectangle whole = view.cell(0, 0, 1, 1);
  const image::Rectangle seen = view.seen();
  const double begin = along_x ? whole.left : whole.top;
  const double end = along_x ? whole.right : whole.bottom;
  const int length = along_x ? view.picture().width : view.picture().height;
  std::vector<Taps> result(static_cast<std::size_t>(pixels));
  for (int i = 0; i < pixels; ++i) {
    const double at = (i + 0.5) * length / pixels;
    int row = 0;
    int column = 0;
    const bool hit = along_x
                         ? view.find_cell(at, (seen.top + seen.bottom) / 2, 1, cells, row, column)
                         : view.find_cell((seen.left + seen.right) / 2, at, cells, 1, row, column);
    if (!hit) continue;
    result[static_cast<std::size_t>(i)] =
        taps_at((at - begin) / (end - begin) * cells, along_x ? column : row, cells, upsampling);
  }
  return result;
}

std::vector<char> seen_of(const std::vector<Taps>& axis) {
  std::vector<char> seen;
  seen.reserve(axis.size());
  for (const Taps& taps : axis) seen.push_back(taps.count > 0 ? 1 : 0);
  return seen;
}

}  // namespace

double part_of(Range range, double value) {
  if (range.high > range.low) {
    return std::clamp((value - range.low) / (range.high - range.low), 0.0, 1.0);
  }
  return value < range.low ? 0 : value > range.high ? 1 : 0.5;
}

Range percentile_range(std::vector<float> values, double low, double high) {
  if (values.empty() || !(0 <= low && low < high && high <= 100)) {
    throw InternalError(fmt::format("percentiles {} to {} of {} values", low, high, values.size()));
  }
  std::sort(values.begin(), values.end());
  const auto at = [&](double percent) {
    const double rank = percent / 100 * static_cast<double>(values.size() - 1);
    const auto below = static_cast<std::size_t>(rank);
    const double under = values[below];
    const double over = values[std::min(below + 1, values.size() - 1)];
    return under + (rank - static_cast<double>(below)) * (over - under);
  };
  return {at(low), at(high)};
}

Field sample(const CellMap& map, const image::View& view, image::Size size, Upsampling upsampling) {
  const std::vector<Taps> across = axis(view, true, size.width, map.columns, upsampling);
  const std::vector<Taps> down = axis(view, false, size.height, map.rows, upsampling);
  Field field{size, {}, seen_of(across), seen_of(down)};
  field.values.reserve(across.size() * down.size());
  std::vector<double> line(static_cast<std::size_t>(map.columns));  // the map at one row of pixels
  for (const Taps& rows : down) {
    std::fill(line.begin(), line.end(), 0.0);
    for (std::size_t i = 0; i < static_cast<std::size_t>(rows.count); ++i) {
      const float* row =
          map.values.data() + static_cast<std::ptrdiff_t>(rows.cell[i]) * map.columns;
      for (std::size_t column = 0; column < line.size(); ++column) {
        line[column] += rows.weight[i] * row[column];
      }
    }
    for (const Taps& columns : across) {
      double value = 0;
      for (std::size_t i = 0; i < static_cast<std::size_t>(columns.count); ++i) {
        value += columns.weight[i] * line[static_cast<std::size_t>(columns.cell[i])];
      }
      field.values.push_back(static_cast<float>(value));
    }
  }
  return field;
}

float top_threshold(const Field& field, double part) {
  std::vector<float> seen;
  for (int y = 0; y < field.size.height; ++y) {
    for (int x = 0; x < field.size.width; ++x) {
      if (field.seen(x, y)) seen.push_back(field.at(x, y));
    }
  }
  if (seen.empty()) return std::numeric_limits<float>::infinity();
  // Forgives the rounding of part * count, so that a fifth of 10 is 2 and not 3.
  const double wanted = std::ceil(part * static_cast<double>(seen.size()) - 1e-6);
  const auto count = static_cast<std::size_t>(std::max(wanted, 1.0));
  const auto last = seen.begin() + static_cast<std::ptrdiff_t>(count - 1);
  std::nth_element(seen.begin(), last, seen.end(), std::greater<>());
  return *last;
}

}  // namespace vitascope::drawing
