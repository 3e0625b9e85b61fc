#include "vit/explain/pointing.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <cmath>
#include <stdexcept>

namespace vitascope::explain {
namespace {

/// Areas of a mask under rectangles with fractional edges, by a summed-area table (Crow 1984).
class MaskArea {
 public:
  explicit MaskArea(const at::Tensor& mask)
      : height_(mask.size(0)),
        width_(mask.size(1)),
        sums_(at::constant_pad_nd(mask.to(at::kCPU, at::kDouble).cumsum(0).cumsum(1), {1, 0, 1, 0})
                  .contiguous()) {}

  /// Of the mask inside the rectangle.
  double inside(const image::Rectangle& box) const {
    return before(box.right, box.bottom) - before(box.left, box.bottom) -
           before(box.right, box.top) + before(box.left, box.top);
  }

 private:
  /// Of the mask left of x and above y. The mask is constant over a pixel, so between the corners
  /// of one the sum is bilinear.
  double before(double x, double y) const {
    x = std::clamp(x, 0.0, static_cast<double>(width_));
    y = std::clamp(y, 0.0, static_cast<double>(height_));
    const auto column = std::min(static_cast<std::int64_t>(x), width_ - 1);
    const auto row = std::min(static_cast<std::int64_t>(y), height_ - 1);
    const double* above = sums_.const_data_ptr<double>() + row * (width_ + 1) + column;
    const double* below = above + width_ + 1;
    const double right = x - static_cast<double>(column);
    return std::lerp(std::lerp(above[0], above[1], right), std::lerp(below[0], below[1], right),
                     y - static_cast<double>(row));
  }

  std::int64_t height_, width_;
  at::Tensor sums_;  ///< [H + 1, W + 1]
};

/// The part of a rectangle that lies in the photo.
double area_in(const image::Rectangle& box, image::Size picture) {
  const double width = std::min<double>(box.right, picture.width) - std::max(box.left, 0.0);
  const double height = std::min<double>(box.bottom, picture.height) - std::max(box.top, 0.0);
  return std::max(width, 0.0) * std::max(height, 0.0);
}

double area_of(const image::Rectangle& box) {
  return (box.right - box.left) * (box.bottom - box.top);
}

/// Whether the mask has a pixel within the tolerance of the point: its own, or one whose centre is.
bool near_mask(const at::Tensor& mask, double x, double y, double tolerance) {
  const auto first = [](double place) {
    return static_cast<std::int64_t>(std::max(std::floor(place), 0.0));
  };
  const std::int64_t bottom = std::min(first(y + tolerance) + 1, mask.size(0));
  const std::int64_t right = std::min(first(x + tolerance) + 1, mask.size(1));
  const auto pixels = mask.accessor<bool, 2>();
  for (std::int64_t row = first(y - tolerance); row < bottom; ++row) {
    for (std::int64_t column = first(x - tolerance); column < right; ++column) {
      const double across = static_cast<double>(column) + 0.5 - x;
      const double down = static_cast<double>(row) + 0.5 - y;
      const bool own = row == first(y) && column == first(x);
      if (pixels[row][column] && (own || std::hypot(across, down) <= tolerance)) return true;
    }
  }
  return false;
}

void require_size(const at::Tensor& mask, image::Size picture) {
  if (mask.dim() == 2 && mask.size(0) == picture.height && mask.size(1) == picture.width) return;
  throw std::invalid_argument("the mask is not of the photo's size, " +
                              std::to_string(picture.width) + " x " +
                              std::to_string(picture.height) + " pixels");
}

}  // namespace

std::optional<Pointing> pointing(const at::Tensor& map, const image::View& view,
                                 const at::Tensor& mask, double tolerance) {
  const image::Size picture = view.picture();
  require_size(mask, picture);
  const at::Tensor values = map.to(at::kCPU, at::kDouble).contiguous();
  const at::Tensor pixels = mask.to(at::kCPU, at::kBool);
  const MaskArea object(pixels);
  const double mean = values.mean().item<double>();
  const auto rows = static_cast<int>(map.size(0));
  const auto columns = static_cast<int>(map.size(1));
  const auto cells = values.accessor<double, 2>();
  double seen = 0;          // area of the object
  double total = 0;         // sum of the map
  double on_object = 0;     // of it, on the object
  double above = 0;         // area of the cells above the mean
  double intersection = 0;  // of these and the object
  for (int row = 0; row < rows; ++row) {
    for (int column = 0; column < columns; ++column) {
      const image::Rectangle box = view.cell(row, column, rows, columns);
      const double value = cells[row][column];
      const double covered = object.inside(box);
      seen += covered;
      total += std::max(value, 0.0);
      on_object += std::max(value, 0.0) * covered / area_of(box);
      if (value > mean) {
        above += area_in(box, picture);
        intersection += covered;
      }
    }
  }
  if (seen <= 0) return std::nullopt;
  Pointing result;
  const auto largest = values.argmax().item<std::int64_t>();
  const image::Rectangle box = view.cell(static_cast<int>(largest / columns),
                                         static_cast<int>(largest % columns), rows, columns);
  result.hit = near_mask(pixels, (box.left + box.right) / 2, (box.top + box.bottom) / 2, tolerance);
  if (total > 0) result.energy = on_object / total;
  result.iou = intersection / (above + seen - intersection);
  return result;
}

at::Tensor covered_parts(const at::Tensor& mask, const image::View& view, int rows, int columns) {
  require_size(mask, view.picture());
  const MaskArea object(mask);
  at::Tensor parts = at::empty({rows, columns}, at::kDouble);
  auto cells = parts.accessor<double, 2>();
  for (int row = 0; row < rows; ++row) {
    for (int column = 0; column < columns; ++column) {
      const image::Rectangle box = view.cell(row, column, rows, columns);
      cells[row][column] = object.inside(box) / area_of(box);
    }
  }
  return parts;
}

}  // namespace vitascope::explain
