#include "vit/image/rand_augment.h"

#include <cmath>

#include "vit/error.h"
#include "vit/image/blur.h"
#include "vit/image/colour.h"

namespace vitascope::image {
namespace {

constexpr double kLastBin = 30;

bool is_signed(Operation operation) {
  return operation >= Operation::shear_x && operation <= Operation::sharpness;
}

}  // namespace

double operation_strength(Operation operation, double bin, Size size) {
  const double share = bin / kLastBin;
  switch (operation) {
    case Operation::shear_x:
    case Operation::shear_y:
      return 0.3 * share;
    case Operation::translate_x:
      return 150.0 / 331.0 * size.width * share;
    case Operation::translate_y:
      return 150.0 / 331.0 * size.height * share;
    case Operation::rotate:
      return 30 * share;
    case Operation::brightness:
    case Operation::saturation:
    case Operation::contrast:
    case Operation::sharpness:
      return 0.9 * share;
    case Operation::posterize:
      return 8 - std::nearbyint(4 * share);
    case Operation::solarize:
      return 255 * (1 - share);
    case Operation::identity:
    case Operation::stretch_contrast:
    case Operation::equalize:
      return 0;
  }
  throw InternalError("operation_strength: unknown operation");
}

void apply_operation(Picture& picture, Operation operation, double strength,
                     const WarpOptions& options) {
  switch (operation) {
    case Operation::identity:
      return;
    case Operation::shear_x:
      return warp(picture, shear_x(strength), options);
    case Operation::shear_y:
      return warp(picture, shear_y(strength), options);
    case Operation::translate_x:
      return warp(picture, translation(static_cast<int>(strength), 0), options);
    case Operation::translate_y:
      return warp(picture, translation(0, static_cast<int>(strength)), options);
    case Operation::rotate:
      return warp(picture, rotation(picture.size, strength), options);
    case Operation::brightness:
      return adjust_brightness(picture, 1 + strength);
    case Operation::saturation:
      return adjust_saturation(picture, 1 + strength);
    case Operation::contrast:
      return adjust_contrast(picture, 1 + strength);
    case Operation::sharpness:
      return adjust_sharpness(picture, 1 + strength);
    case Operation::posterize:
      return posterize(picture, static_cast<int>(strength));
    case Operation::solarize:
      return solarize(picture, strength);
    case Operation::stretch_contrast:
      return stretch_contrast(picture);
    case Operation::equalize:
      return equalize(picture);
  }
  throw InternalError("apply_operation: unknown operation");
}

void rand_augment(Picture& picture, int count, double bin, const WarpOptions& options,
                  RandomStream& random) {
  for (int i = 0; i < count; ++i) {
    const auto operation = static_cast<Operation>(random.below(kOperations));
    double strength = operation_strength(operation, bin, picture.size);
    if (is_signed(operation) && random.happens(0.5)) strength = -strength;
    apply_operation(picture, operation, strength, options);
  }
}

void three_augment(Picture& picture, RandomStream& random) {
  switch (random.below(3)) {
    case 0:
      return to_gray(picture);
    case 1:
      return solarize(picture, 128);
    default:
      return gaussian_blur(picture, random.uniform(0.1, 2.0));
  }
}

}  // namespace vitascope::image
