#include "app/drawing/stroke.h"

#include <algorithm>
#include <cmath>

namespace vitascope::drawing {
namespace {

double distance_to_segment(Point p, Point a, Point b) {
  const double dx = b.x - a.x;
  const double dy = b.y - a.y;
  const double length = dx * dx + dy * dy;
  const double along =
      length > 0 ? std::clamp(((p.x - a.x) * dx + (p.y - a.y) * dy) / length, 0.0, 1.0) : 0.0;
  return std::hypot(p.x - a.x - along * dx, p.y - a.y - along * dy);
}

/// The pixels that a segment can touch.
Area reach_of(Point a, Point b, double radius) {
  const int left = static_cast<int>(std::floor(std::min(a.x, b.x) - radius - 1));
  const int top = static_cast<int>(std::floor(std::min(a.y, b.y) - radius - 1));
  const int right = static_cast<int>(std::ceil(std::max(a.x, b.x) + radius + 1));
  const int bottom = static_cast<int>(std::ceil(std::max(a.y, b.y) + radius + 1));
  return {left, top, right - left, bottom - top};
}

bool finite(Point p) { return std::isfinite(p.x) && std::isfinite(p.y); }

}  // namespace

void stroke(Canvas& canvas, const Area& wanted, const std::vector<Point>& points, double width,
            Colour colour) {
  const Area clip = intersection(wanted, canvas.area());
  // How much of each pixel is covered, so that no pixel is blended twice.
  std::vector<float> covered(static_cast<std::size_t>(clip.width) * clip.height);
  const auto cover = [&](Point a, Point b) {
    const Area reach = intersection(reach_of(a, b, width / 2), clip);
    for (int y = reach.top; y < reach.top + reach.height; ++y) {
      for (int x = reach.left; x < reach.left + reach.width; ++x) {
        const double distance = distance_to_segment({x + 0.5, y + 0.5}, a, b);
        const auto part = static_cast<float>(std::clamp(width / 2 + 0.5 - distance, 0.0, 1.0));
        float& old = covered[static_cast<std::size_t>(y - clip.top) * clip.width + x - clip.left];
        old = std::max(old, part);
      }
    }
  };
  for (std::size_t i = 0; i < points.size(); ++i) {
    const Point& from = points[i == 0 || !finite(points[i - 1]) ? i : i - 1];
    if (finite(points[i])) cover(from, points[i]);
  }
  for (int y = 0; y < clip.height; ++y) {
    for (int x = 0; x < clip.width; ++x) {
      const float part = covered[static_cast<std::size_t>(y) * clip.width + x];
      if (part > 0) canvas.blend(clip.left + x, clip.top + y, colour, part);
    }
  }
}

void disc(Canvas& canvas, const Area& clip, Point centre, double radius, Colour colour) {
  const Area reach = intersection(reach_of(centre, centre, radius), clip);
  for (int y = reach.top; y < reach.top + reach.height; ++y) {
    for (int x = reach.left; x < reach.left + reach.width; ++x) {
      const double distance = std::hypot(x + 0.5 - centre.x, y + 0.5 - centre.y);
      canvas.blend(x, y, colour, std::clamp(radius + 0.5 - distance, 0.0, 1.0));
    }
  }
}

std::vector<std::vector<Point>> dashes(const std::vector<Point>& points, double length) {
  std::vector<std::vector<Point>> pieces;
  double left = length;  // of the current piece or gap
  bool drawing = true;
  for (std::size_t i = 1; i < points.size(); ++i) {
    Point at = points[i - 1];
    const Point end = points[i];
    double rest = std::hypot(end.x - at.x, end.y - at.y);
    if (!(rest > 0)) continue;
    if (drawing && (pieces.empty() || pieces.back().back() != at)) pieces.push_back({at});
    while (rest > 0) {
      const double step = std::min(rest, left);
      at = {at.x + (end.x - at.x) * step / rest, at.y + (end.y - at.y) * step / rest};
      if (drawing) pieces.back().push_back(at);
      rest -= step;
      left -= step;
      if (left > 0) continue;
      left = length;
      drawing = !drawing;
      if (drawing) pieces.push_back({at});
    }
  }
  std::erase_if(pieces, [](const std::vector<Point>& piece) { return piece.size() < 2; });
  return pieces;
}

}  // namespace vitascope::drawing
