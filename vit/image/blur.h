#pragma once

#include "vit/image/picture.h"

/// \file
/// Pillow's Gaussian blur, bit for bit.
namespace vitascope::image {

/// Three box blurs of a fractional radius along each axis, whose variance is that of a Gaussian
/// with standard deviation `sigma` (Gwosdek et al. 2011), in fixed point. Edges are repeated.
void gaussian_blur(Picture& picture, double sigma);

}  // namespace vitascope::image
