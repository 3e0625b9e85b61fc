#pragma once

/// \file
/// The kernels that a resize can weigh its pixels with.
namespace vitascope::image {

/// Numbered as Pillow's Image.Resampling and transformers' `resample` key.
enum class Filter { nearest = 0, lanczos = 1, bilinear = 2, bicubic = 3, box = 4, hamming = 5 };

/// "bicubic" and so on, as timm's `interpolation` spells it.
const char* filter_name(Filter filter);

}  // namespace vitascope::image
