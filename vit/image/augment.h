#pragma once

#include <ATen/core/Tensor.h>

#include <optional>

#include "vit/image/random_crop.h"
#include "vit/image/specification.h"

/// \file
/// One photo of training, changed at random. All that is random comes from the stream passed in.
namespace vitascope::image {

/// What changes colours and shapes as a whole.
enum class Policy { none, rand_augment, three_augment };

/// What an erased rectangle holds, in units of the normalised tensor: 0, or normal noise of one
/// value a channel or a pixel.
enum class EraseWith { zero, colour, noise };

/// How photos are changed; what is 0 or none is not done.
struct Augmentation {
  std::optional<CropRange> crop = CropRange{};  ///< nothing: resized and cropped as for evaluation
  double flip = 0.5;                            ///< probability of mirroring left and right
  Policy policy = Policy::none;
  int operations = 2;                                   ///< of rand_augment
  double magnitude = 9;                                 ///< of rand_augment, 0 to 30
  double brightness = 0, contrast = 0, saturation = 0;  ///< factors in 1 - x .. 1 + x
  double hue = 0;                                       ///< turns in -x .. x, at most 0.5
  double erase = 0;                                     ///< probability of erasing a rectangle
  EraseWith erase_with = EraseWith::noise;
};

/// The part that a photo of `size` shows, the first thing to be drawn: it may be known before the
/// photo is decoded. Nothing without Augmentation::crop.
std::optional<Region> draw_part(Size size, const Augmentation& augmentation, RandomStream& random);

/// crop -> flip -> policy -> colour jitter (its four steps in random order) -> normalise -> erase.
/// \param part what draw_part gave, in pixels of `picture`
/// \return float32 [3, H, W] of the specification's output size
/// \throws UsageError when `part` is given and that size depends on the picture
at::Tensor augment(const Picture& picture, const std::optional<Region>& part,
                   const Augmentation& augmentation, const Specification& specification,
                   RandomStream& random);

/// Zhong et al. 2017 with timm's rule: up to ten attempts at an area of 0.02 to 1/3 and an aspect
/// of 0.3 to 1/0.3. `pixels` is [C, H, W]. \return what was erased
std::optional<Region> random_erase(at::Tensor& pixels, EraseWith with, RandomStream& random);

}  // namespace vitascope::image
