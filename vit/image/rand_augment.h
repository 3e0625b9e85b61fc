#pragma once

#include "vit/image/random_stream.h"
#include "vit/image/warp.h"

/// \file
/// Policies that change a picture by operations drawn at random.
namespace vitascope::image {

/// The operations of RandAugment.
enum class Operation {
  identity,
  shear_x,
  shear_y,
  translate_x,
  translate_y,
  rotate,
  brightness,
  saturation,
  contrast,
  sharpness,
  posterize,
  solarize,
  stretch_contrast,
  equalize
};
inline constexpr int kOperations = 14;

/// How strong an operation is at `bin` of 0 .. 30, by torchvision's table; without the sign, which
/// is drawn for shears, moves, rotation and mixes.
double operation_strength(Operation operation, double bin, Size size);

/// Applies one operation with a strength that has its sign.
void apply_operation(Picture& picture, Operation operation, double strength,
                     const WarpOptions& warp);

/// RandAugment (Cubuk et al. 2019): `count` operations, each drawn evenly, at one strength in
/// [0, 30].
void rand_augment(Picture& picture, int count, double bin, const WarpOptions& warp,
                  RandomStream& random);

/// One of gray, solarize and a blur of 0.1 to 2 pixels (DeiT III, Touvron et al. 2022).
void three_augment(Picture& picture, RandomStream& random);

}  // namespace vitascope::image
