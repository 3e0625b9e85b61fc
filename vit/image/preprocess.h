#pragma once

#include <ATen/core/Tensor.h>

#include "vit/image/picture.h"
#include "vit/image/specification.h"
#include "vit/image/view.h"

/// \file
/// Picture -> what the network sees.
namespace vitascope::image {

/// A photo made ready for a model.
struct Prepared {
  at::Tensor pixels;  ///< float32 [3, H, W], channels RGB
  View view;          ///< patch grid <-> original pixels
};

/// resize -> crop -> rescale -> normalise, with the arithmetic of the specification's family:
/// (x * rescale - mean) / std in float32.
Prepared prepare(const Picture& picture, const Specification& specification);

/// The last steps alone, of a picture that has its size: (x * rescale - mean) / std.
/// \return float32 [3, H, W]
at::Tensor normalised(const Picture& picture, const Specification& specification);

/// The 8-bit picture after resize and crop, [output.height, output.width, 3]: what `verify`
/// compares in levels and what overlays show.
Picture prepare_bytes(const Picture& picture, const Specification& specification);

}  // namespace vitascope::image
