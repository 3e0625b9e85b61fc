#include "datasets/mask_region.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <utility>

namespace vitascope::datasets {
namespace {

struct Point {
  double x, y;
};

/// The first of `count` pixels whose centre lies at `edge` or beyond it; `count` when none does.
int first_centre(double edge, int count) {
  return static_cast<int>(std::clamp(std::ceil(edge - 0.5), 0.0, static_cast<double>(count)));
}

/// The pixels around a polygon. flip() changes all pixels from some column on, in one row, from
/// outside to inside or back, so the memory is that of the pixels, however many corners there are.
class PolygonFill {
 public:
  PolygonFill(const std::vector<Point>& corners, image::Size size) {
    const auto [left, right] = std::minmax_element(
        corners.begin(), corners.end(), [](const Point& a, const Point& b) { return a.x < b.x; });
    const auto [top, bottom] = std::minmax_element(
        corners.begin(), corners.end(), [](const Point& a, const Point& b) { return a.y < b.y; });
    left_ = first_centre(left->x, size.width);
    right_ = first_centre(right->x, size.width);
    top_ = first_centre(top->y, size.height);
    bottom_ = first_centre(bottom->y, size.height);
    flips_.resize(static_cast<std::size_t>(bottom_ - top_) *
                  static_cast<std::size_t>(right_ - left_));
  }

  /// Flips along one edge. It goes downwards whichever way the outline does, so that two polygons
  /// that share an edge share no pixel and leave none between them.
  void flip(Point from, Point to) {
    if (from.y > to.y) std::swap(from, to);
    const double slope = (to.x - from.x) / (to.y - from.y);
    const int end = first_centre(to.y, bottom_);
    for (int row = std::max(first_centre(from.y, bottom_), top_); row < end; ++row) {
      const double x = from.x + (row + 0.5 - from.y) * slope;
      const int column = std::max(first_centre(x, right_), left_);
      if (column < right_) flips_[index(row, column)] = !flips_[index(row, column)];
    }
  }

  void set_pixels(const MaskPixels& mask) const {
    for (int row = top_; row < bottom_; ++row) {
      bool inside = false;
      for (int column = left_; column < right_; ++column) {
        inside ^= flips_[index(row, column)];
        if (inside) mask.pixels[static_cast<std::size_t>(row) * mask.size.width + column] = true;
      }
    }
  }

 private:
  std::size_t index(int row, int column) const {
    return static_cast<std::size_t>(row - top_) * (right_ - left_) + (column - left_);
  }

  int left_, right_, top_, bottom_;
  std::vector<bool> flips_;
};

void draw_polygon(const std::vector<double>& numbers, image::Size annotated,
                  const MaskPixels& mask) {
  const double across = static_cast<double>(mask.size.width) / annotated.width;
  const double down = static_cast<double>(mask.size.height) / annotated.height;
  std::vector<Point> corners;
  corners.reserve(numbers.size() / 2);
  for (std::size_t i = 0; i + 1 < numbers.size(); i += 2) {
    corners.push_back({numbers[i] * across, numbers[i + 1] * down});
  }
  if (corners.empty()) return;
  PolygonFill fill(corners, mask.size);
  for (std::size_t i = 0; i < corners.size(); ++i) {
    fill.flip(corners[i], corners[(i + 1) % corners.size()]);
  }
  fill.set_pixels(mask);
}

/// The pixel of `from` whose place is that of the centre of `pixel` of `to`.
std::int64_t nearest(int pixel, int to, int from) {
  return (2 * std::int64_t{pixel} + 1) * from / (2 * std::int64_t{to});
}

/// One run after the other, and where it ends.
class RunReader {
 public:
  explicit RunReader(const std::vector<std::int64_t>& runs) : runs_(runs), end_(runs.front()) {}

  /// Whether a place lies inside; it is not before the one that was asked for last.
  bool inside(std::int64_t place) {
    while (place >= end_) end_ += runs_[++run_];
    return run_ % 2 == 1;
  }

 private:
  std::span<const std::int64_t> runs_;
  std::size_t run_ = 0;
  std::int64_t end_;
};

void draw_runs(const std::vector<std::int64_t>& runs, image::Size annotated,
               const MaskPixels& mask) {
  RunReader start_of_column(runs);
  for (int column = 0; column < mask.size.width; ++column) {
    const std::int64_t start = nearest(column, mask.size.width, annotated.width) * annotated.height;
    start_of_column.inside(start);
    RunReader reader = start_of_column;  // a column may be drawn twice
    for (int row = 0; row < mask.size.height; ++row) {
      if (reader.inside(start + nearest(row, mask.size.height, annotated.height))) {
        mask.pixels[static_cast<std::size_t>(row) * mask.size.width + column] = true;
      }
    }
  }
}

}  // namespace

void draw(const MaskRegion& region, image::Size annotated, const MaskPixels& mask) {
  for (const std::vector<double>& polygon : region.polygons) {
    draw_polygon(polygon, annotated, mask);
  }
  if (!region.runs.empty()) draw_runs(region.runs, annotated, mask);
}

std::optional<std::vector<std::int64_t>> decode_runs(std::string_view text) {
  constexpr int kBits = 5, kMostBits = 45;
  constexpr int kFirst = '0', kMore = 0x20, kNegative = 0x10;
  std::vector<std::int64_t> runs;
  std::int64_t value = 0;
  int shift = 0;
  for (const char character : text) {
    const int code = static_cast<unsigned char>(character) - kFirst;
    if (code < 0 || code >= 2 * kMore || shift == kMostBits) return std::nullopt;
    value |= std::int64_t{code % kMore} << shift;
    shift += kBits;
    if ((code & kMore) != 0) continue;
    if ((code & kNegative) != 0) value -= std::int64_t{1} << shift;
    if (runs.size() > 2) value += runs[runs.size() - 2];
    // No sum of two such numbers overflows.
    if (value < 0 || value >= std::int64_t{1} << kMostBits) return std::nullopt;
    runs.push_back(value);
    value = shift = 0;
  }
  if (shift != 0) return std::nullopt;
  return runs;
}

}  // namespace vitascope::datasets
