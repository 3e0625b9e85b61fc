#pragma once

#include "vit/image/filter.h"
#include "vit/image/picture.h"
#include "vit/image/random_stream.h"
#include "vit/image/resize.h"

/// \file
/// A random part of a photo, resized to what the network sees (Szegedy et al. 2015).
namespace vitascope::image {

/// How large and of what shape the part may be.
struct CropRange {
  double least_area = 0.08, most_area = 1;               ///< of the photo's
  double least_aspect = 3.0 / 4, most_aspect = 4.0 / 3;  ///< width / height, drawn in the logarithm
};

/// A part of a photo of `size`, by torchvision's rule: ten attempts at an area and an aspect, then
/// the largest centred part of an allowed aspect.
Region random_crop(Size size, const CropRange& range, RandomStream& random);

/// The part alone, resized to `output` as Pillow's crop() and then resize() would.
Picture crop_resized(const Picture& picture, const Region& part, Size output, Filter filter);

/// The same part of the same photo after it was decoded at another size.
Region scaled_part(const Region& part, Size from, Size to);

}  // namespace vitascope::image
