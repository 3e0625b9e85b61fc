#pragma once

#include <array>
#include <cstdint>

#include "vit/image/picture.h"

/// \file
/// Affine changes of a picture that keep its size, with the bytes of Pillow's Image.transform.
namespace vitascope::image {

/// Output pixel (x, y) shows the input at (a x + b y + c, d x + e y + f), all counted from the
/// corner of pixels.
using AffineMatrix = std::array<double, 6>;

/// How pixels between pixels are found.
enum class Sampling { nearest, bilinear };

/// Moves and fills: what comes from outside the picture gets the colour.
struct WarpOptions {
  Sampling sampling = Sampling::bilinear;
  std::array<std::uint8_t, 3> fill{};
};

/// Applies the matrix.
void warp(Picture& picture, const AffineMatrix& matrix, const WarpOptions& options);

/// By `degrees` counter-clockwise round the centre.
AffineMatrix rotation(Size size, double degrees);
/// Row y moves right by slope * y, as torchvision's RandAugment shears; likewise by columns.
AffineMatrix shear_x(double slope);
AffineMatrix shear_y(double slope);
/// Moves right and down by whole pixels.
AffineMatrix translation(int right, int down);

}  // namespace vitascope::image
