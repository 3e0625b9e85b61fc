#pragma once

#include "vit/image/picture.h"

/// \file
/// Changes of colour and sharpness, with the bytes of Pillow's ImageEnhance and ImageOps and of
/// torchvision's functions on PIL images. A factor of 1 changes nothing, 0 leaves black, gray, ...
namespace vitascope::image {

/// A mix with black.
void adjust_brightness(Picture& picture, double factor);
/// A mix with the mean gray.
void adjust_contrast(Picture& picture, double factor);
/// A mix with its gray version.
void adjust_saturation(Picture& picture, double factor);
/// Turns the hue by `turn` of the circle, in [-0.5, 0.5], in steps of 1/255.
void adjust_hue(Picture& picture, double turn);
/// A mix with the picture smoothed by 3 x 3; the border stays.
void adjust_sharpness(Picture& picture, double factor);

/// R, G and B become 0.299 R + 0.587 G + 0.114 B.
void to_gray(Picture& picture);
/// Levels from `threshold` on are inverted.
void solarize(Picture& picture, double threshold);
/// Keeps the `bits` (1 to 8) highest bits of each level.
void posterize(Picture& picture, int bits);
/// Stretches each channel from its darkest and lightest level to 0 and 255.
void stretch_contrast(Picture& picture);
/// Flattens the histogram of each channel.
void equalize(Picture& picture);

/// Mirrors left and right.
void flip_horizontally(Picture& picture);

}  // namespace vitascope::image
