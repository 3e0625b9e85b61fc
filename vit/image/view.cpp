#include "vit/image/view.h"

#include <algorithm>
#include <cmath>

#include "vit/image/orientation.h"

namespace vitascope::image {

View::View(const Geometry& geometry, Size picture, Size stored, int orientation)
    : scale_x_(static_cast<double>(picture.width) / geometry.resized.width),
      scale_y_(static_cast<double>(picture.height) / geometry.resized.height),
      picture_(picture),
      output_(geometry.output),
      stored_(stored),
      orientation_(orientation) {
  offset_x_ = geometry.left * scale_x_;
  offset_y_ = geometry.top * scale_y_;
}

Rectangle View::cell(int row, int column, int rows, int columns) const {
  const double width = output_.width * scale_x_ / columns;
  const double height = output_.height * scale_y_ / rows;
  return {offset_x_ + column * width, offset_y_ + row * height, offset_x_ + (column + 1) * width,
          offset_y_ + (row + 1) * height};
}

Rectangle View::seen() const {
  const Rectangle whole = cell(0, 0, 1, 1);
  return {std::clamp(whole.left, 0.0, static_cast<double>(picture_.width)),
          std::clamp(whole.top, 0.0, static_cast<double>(picture_.height)),
          std::clamp(whole.right, 0.0, static_cast<double>(picture_.width)),
          std::clamp(whole.bottom, 0.0, static_cast<double>(picture_.height))};
}

bool View::find_cell(double x, double y, int rows, int columns, int& row, int& column) const {
  if (x < 0 || y < 0 || x >= picture_.width || y >= picture_.height) return false;
  const double along = (x - offset_x_) / (output_.width * scale_x_);
  const double down = (y - offset_y_) / (output_.height * scale_y_);
  if (!(along >= 0 && along < 1 && down >= 0 && down < 1)) return false;
  column = std::min(static_cast<int>(along * columns), columns - 1);
  row = std::min(static_cast<int>(down * rows), rows - 1);
  return true;
}

Rectangle View::stored(const Rectangle& upright) const {
  double x0 = 0;
  double y0 = 0;
  double x1 = 0;
  double y1 = 0;
  upright_to_stored(orientation_, stored_, upright.left, upright.top, x0, y0);
  upright_to_stored(orientation_, stored_, upright.right, upright.bottom, x1, y1);
  return {std::min(x0, x1), std::min(y0, y1), std::max(x0, x1), std::max(y0, y1)};
}

}  // namespace vitascope::image
