#pragma once

#include "vit/image/specification.h"

/// \file
/// Where the cells of the patch grid lie in the original photo. Made by preprocessing itself, so
/// that an overlay can't drift when a crop, a squash or an orientation is involved.
namespace vitascope::image {

/// A rectangle in pixels with continuous edges: [left, right) x [top, bottom).
struct Rectangle {
  double left = 0, top = 0, right = 0, bottom = 0;
};

/// The affine map between what the network sees and the upright photo, and the stored one.
class View {
 public:
  View() = default;
  View(const Geometry& geometry, Size picture, Size stored, int orientation);

  /// The rectangle of upright-photo pixels that cell (row, column) of a grid of rows x columns
  /// covers. May stick out of the photo where the crop was padded.
  Rectangle cell(int row, int column, int rows, int columns) const;

  /// The part of the upright photo that the network sees at all, clipped to the photo.
  Rectangle seen() const;

  /// Upright-photo pixel -> the cell of a rows x columns grid that holds it; false when the
  /// network never saw that pixel.
  bool find_cell(double x, double y, int rows, int columns, int& row, int& column) const;

  /// The same rectangle in the stored (not yet turned) picture's pixels.
  Rectangle stored(const Rectangle& upright) const;

  Size picture() const { return picture_; }
  Size output() const { return output_; }

 private:
  // upright = offset + input * scale
  double offset_x_ = 0, offset_y_ = 0, scale_x_ = 1, scale_y_ = 1;
  Size picture_, output_, stored_;
  int orientation_ = 1;
};

}  // namespace vitascope::image
