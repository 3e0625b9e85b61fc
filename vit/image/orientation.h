#pragma once

#include "vit/image/picture.h"

/// \file
/// EXIF orientation: 1 upright, 2 mirrored, 3 turned by 180 degrees, 4 mirrored vertically,
/// 5 transposed, 6 to be turned 90 degrees clockwise, 7 transverse, 8 to be turned anticlockwise.
namespace vitascope::image {

/// Turns `picture` upright in place: sets size, stored and orientation.
/// Expects rgb and size as they are in the file.
void apply_orientation(Picture& picture, int orientation);

/// Where the pixel at (x, y) of the upright picture lies in the stored one of size `stored`;
/// works for continuous coordinates (pixel edges), e.g. (0, 0) is the upright top left corner.
void upright_to_stored(int orientation, Size stored, double x, double y, double& stored_x,
                       double& stored_y);

}  // namespace vitascope::image
