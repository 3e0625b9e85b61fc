#pragma once

#include <cstdint>
#include <vector>

#include "vit/image/picture.h"

/// \file
/// Pillow's resampling, bit for bit: an antialiased separable filter whose support grows with the
/// scale, in fixed point, horizontal pass first, rounded and clipped to 8 bits after each pass.
namespace vitascope::image {

/// Numbered as Pillow's Image.Resampling and transformers' `resample` key.
enum class Filter { nearest = 0, lanczos = 1, bilinear = 2, bicubic = 3, box = 4, hamming = 5 };

/// "bicubic" and so on, as timm's `interpolation` spells it.
const char* filter_name(Filter filter);

/// Resizes [size.height, size.width, 3] to `target`. Bicubic has a = -0.5.
/// \throws InternalError when a size is not positive
std::vector<std::uint8_t> resize(const std::uint8_t* rgb, Size size, Size target, Filter filter);

}  // namespace vitascope::image
