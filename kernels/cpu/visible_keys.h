#pragma once

#include "kernels/attention_problem.h"
#include "kernels/cpu/product.h"

/// \file
/// Which keys a query sees, and which panels a block of queries has to do with at all: with a
/// window, a grid or a causal mask, work grows with what is seen and not with N squared.
namespace vitascope::kernels::cpu::VITASCOPE_ISA {

/// std::max, for the reason that smaller() has.
VITASCOPE_INLINE std::int64_t larger(std::int64_t a, std::int64_t b) { return a > b ? a : b; }

/// What two ranges share; empty ones may end before they begin.
VITASCOPE_INLINE Range common_part(Range a, Range b) {
  return {larger(a.begin, b.begin), smaller(a.end, b.end)};
}

/// Calls `work(Range)` for the spans of some keys that a query sees, whatever a mask hides of them.
template <typename Work>
VITASCOPE_INLINE void each_visible_span(const AttentionProblem& p, std::int64_t b,
                                        std::int64_t query, Range keys, const Work& work) {
  const Range range = common_part(keys_of(p, b, query, query), keys);
  const GridWindow& grid = p.visible.grid;
  if (grid.rows == 0 || query < grid.prefix) return work(range);
  work(common_part(range, {0, grid.prefix}));
  const std::int64_t row = (query - grid.prefix) / grid.columns;
  const std::int64_t column = (query - grid.prefix) % grid.columns;
  const std::int64_t left = larger(0, column - grid.column_radius);
  const std::int64_t right = smaller(grid.columns, column + grid.column_radius + 1);
  const std::int64_t below = smaller(grid.rows, row + grid.row_radius + 1);
  for (std::int64_t r = larger(0, row - grid.row_radius); r < below; ++r) {
    const std::int64_t first = grid.prefix + r * grid.columns;
    work(common_part(range, {first + left, first + right}));
  }
}

/// Keys of some neighbouring panels. Scores of all runs lie side by side in a row.
struct Run {
  Range panels;
  Range keys;
  std::int64_t column;  ///< of its first key in the row
};

/// Runs that hold every key that a block of queries sees, and as few others as panels allow. All
/// but the last are of whole vectors.
struct VisibleKeys {
  Run runs[2];
  int count = 0;

  /// Length of a row of scores.
  std::int64_t columns() const {
    return count == 0 ? 0 : runs[count - 1].column + length(runs[count - 1].keys);
  }

  /// All of them, whoever sees them.
  static VisibleKeys all(const AttentionProblem& p) {
    VisibleKeys visible;
    visible.add({0, p.keys}, p.keys);
    return visible;
  }

  /// What the queries first .. last of a picture see.
  static VisibleKeys of(const AttentionProblem& p, std::int64_t b, std::int64_t first,
                        std::int64_t last) {
    VisibleKeys visible;
    const Range range = keys_of(p, b, first, last);
    const GridWindow& grid = p.visible.grid;
    if (grid.rows == 0 || first < grid.prefix) {
      visible.add(range, p.keys);
      return visible;
    }
    const auto row_of = [&](std::int64_t query) { return (query - grid.prefix) / grid.columns; };
    const std::int64_t above = row_of(first) - grid.row_radius;
    const std::int64_t below = row_of(last) + grid.row_radius + 1;
    const Range near{grid.prefix + larger(0, above) * grid.columns,
                     grid.prefix + smaller(grid.rows, below) * grid.columns};
    visible.add(common_part(range, {0, grid.prefix}), p.keys);
    visible.add(common_part(range, near), p.keys);
    return visible;
  }

 private:
  static std::int64_t length(Range range) { return range.end - range.begin; }

  /// Appends the panels of some keys that lie behind those of the run before, or widens that one.
  void add(Range keys, std::int64_t all) {
    if (keys.begin >= keys.end) return;
    const Panels panels = Panels::of(all);
    Range range{0, panels.count()};
    while (panels.begin(range.begin + 1) * kLanes <= keys.begin) ++range.begin;
    while (panels.begin(range.end - 1) * kLanes >= keys.end) --range.end;
    std::int64_t column = columns();
    if (count > 0 && runs[count - 1].panels.end >= range.begin) {
      --count;
      range.begin = runs[count].panels.begin;
      column = runs[count].column;
    }
    runs[count++] = {
        range,
        {panels.begin(range.begin) * kLanes, smaller(all, panels.begin(range.end) * kLanes)},
        column};
  }
};

}  // namespace vitascope::kernels::cpu::VITASCOPE_ISA
