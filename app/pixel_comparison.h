#pragma once

#include <ATen/core/Tensor.h>

#include <string>
#include <vector>

#include "vit/image/picture.h"
#include "vit/image/specification.h"

/// \file
/// Why another program's pixels differ from ours: the ways in which preprocessing is commonly done
/// otherwise are tried in turn, and the one that reproduces the pixels is named.
namespace vitascope::app {

/// A difference between two prepared pictures in 8-bit levels.
struct LevelDifference {
  double largest = 0;
  double mean = 0;
  double share = 0;  ///< of values that differ by more than a twentieth of a level
};

/// One thing that the other program does otherwise.
struct Cause {
  std::string name;  ///< stable: torchvision, float_resampling, antialias, filter, crop_rounding,
                     ///< crop_shift, resize, orientation, channel_order, normalisation
  std::string text;  ///< for people
};

/// What compare_pixels found.
struct PixelComparison {
  LevelDifference ours;       ///< with our own preparation
  std::vector<Cause> causes;  ///< what together explains the difference; empty: nothing did
  LevelDifference explained;  ///< with the causes applied (or the nearest attempt)
  std::string nearest;        ///< when nothing explained it: the attempt that came nearest
  /// Not a value differs, but for the rounding of float32.
  bool identical() const { return ours.share == 0; }
  /// Within one level everywhere, which is as near as other resampling code comes.
  bool within_one_level() const;
};

/// \param reference     [3, H, W] float32, normalised, as the other program gave it
/// \param picture       the same photo, decoded
/// \param specification our preparation, whose output must have the size of `reference`
/// \throws InternalError when the sizes differ
PixelComparison compare_pixels(const at::Tensor& reference, const image::Picture& picture,
                               const image::Specification& specification);

}  // namespace vitascope::app
