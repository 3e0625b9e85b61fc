#include "app/drawing/overlay.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <opencv2/imgproc.hpp>

#include "vit/error.h"

namespace vitascope::drawing {
namespace {

constexpr double kDimmed = 0.35;
constexpr Colour kContourLine{255, 255, 255};
constexpr Colour kContourRim{0, 0, 0};

void check(const image::Picture& photo, const CellMap& map, const image::View& view) {
  const std::size_t cells = static_cast<std::size_t>(map.rows) * map.columns;
  if (map.rows < 1 || map.columns < 1 || map.values.size() != cells) {
    throw InternalError(fmt::format("a map of {} x {} cells with {} values", map.rows, map.columns,
                                    map.values.size()));
  }
  if (view.picture() != photo.size) {
    throw InternalError(fmt::format("a view of a photo of {} x {} for one of {} x {}",
                                    view.picture().width, view.picture().height, photo.size.width,
                                    photo.size.height));
  }
  const auto bad = std::find_if_not(map.values.begin(), map.values.end(),
                                    [](float value) { return std::isfinite(value); });
  if (bad == map.values.end()) return;
  const auto at = bad - map.values.begin();
  throw InputError(photo.path,
                   fmt::format("the map to draw holds {} at row {}, column {}; expected finite "
                               "numbers (are the weights of the model damaged?)",
                               *bad, at / map.columns, at % map.columns));
}

Range choose_range(const CellMap& map, const OverlayStyle& style) {
  if (style.range) return *style.range;
  const Range clipped = percentile_range(map.values, style.low_percentile, style.high_percentile);
  return clipped.low < clipped.high ? clipped : percentile_range(map.values, 0, 100);
}

/// Photo and colours together, in place.
void blend(Canvas& canvas, const Field& field, Range range, const OverlayStyle& style) {
  for (int y = 0; y < canvas.size().height; ++y) {
    for (int x = 0; x < canvas.size().width; ++x) {
      if (field.seen(x, y)) {
        canvas.blend(x, y, colour(style.colours, part_of(range, field.at(x, y))), style.alpha);
      } else {
        const auto grey = static_cast<std::uint8_t>(std::lround(kDimmed * luma(canvas.at(x, y))));
        canvas.set(x, y, {grey, grey, grey});
      }
    }
  }
}

/// A light line just inside the area of `mask` and a dark one just outside it, so that one of the
/// two is seen on any colour.
void draw_contour(Canvas& canvas, const cv::Mat& mask) {
  const image::Size size = canvas.size();
  const int line = std::max(1, rounded(std::max(size.width, size.height) / 350.0));
  const int reach = 2 * line + 1;
  const cv::Mat square = cv::Mat::ones(reach, reach, CV_8UC1);
  cv::Mat inner;
  cv::Mat outer;
  cv::erode(mask, inner, square, {-1, -1}, 1, cv::BORDER_CONSTANT, 0);
  cv::dilate(mask, outer, square);
  for (int y = 0; y < size.height; ++y) {
    for (int x = 0; x < size.width; ++x) {
      if (outer.at<std::uint8_t>(y, x) == 0 || inner.at<std::uint8_t>(y, x) != 0) continue;
      canvas.set(x, y, mask.at<std::uint8_t>(y, x) != 0 ? kContourLine : kContourRim);
    }
  }
}

/// Draws the contour and returns the part of the seen area that it encloses.
double contour(Canvas& canvas, const Field& field) {
  const float threshold = top_threshold(field, kContourPart);
  cv::Mat mask = cv::Mat::zeros(field.size.height, field.size.width, CV_8UC1);
  double inside = 0;
  double seen = 0;
  for (int y = 0; y < field.size.height; ++y) {
    for (int x = 0; x < field.size.width; ++x) {
      if (!field.seen(x, y)) continue;
      ++seen;
      if (field.at(x, y) < threshold) continue;
      ++inside;
      mask.at<std::uint8_t>(y, x) = 255;
    }
  }
  draw_contour(canvas, mask);
  return seen > 0 ? inside / seen : 0;
}

}  // namespace

Overlay draw_overlay(const image::Picture& photo, const CellMap& map, const image::View& view,
                     const OverlayStyle& style) {
  check(photo, map, view);
  image::Size size = photo.size;
  if (style.width > 0) {
    const double height = static_cast<double>(size.height) * style.width / size.width;
    size = {style.width, std::max(1, rounded(height))};
  }
  const auto [least, greatest] = std::minmax_element(map.values.begin(), map.values.end());
  Overlay result;
  result.picture = Canvas(photo).resized(size);
  result.range = choose_range(map, style);
  result.constant = *least == *greatest;
  result.below = *least < result.range.low;
  result.above = *greatest > result.range.high;
  const Field field = sample(map, view, size, style.upsampling);
  const auto unseen = [](const std::vector<char>& axis) {
    return std::find(axis.begin(), axis.end(), 0) != axis.end();
  };
  result.dimmed = unseen(field.seen_columns) || unseen(field.seen_rows);
  blend(result.picture, field, result.range, style);
  if (style.contour && !result.constant) result.contour_area = contour(result.picture, field);
  return result;
}

}  // namespace vitascope::drawing
