#pragma once

#include <ATen/core/Tensor.h>

#include <optional>

#include "vit/image/view.h"

/// \file
/// Does a map point at the object, where it is known which pixels the object has?
namespace vitascope::explain {

/// How well a map and a mask agree. All of it is measured in the upright photo's pixels, on the
/// rectangles that the cells cover there.
struct Pointing {
  /// Pointing game (Zhang et al. 2018, arXiv:1608.00507): the centre of the largest cell (of equal
  /// ones the first) is an object's pixel, or within the tolerance of one.
  bool hit = false;
  /// Energy-based pointing game (Wang et al. 2020, arXiv:1910.01279): the part of the map's sum
  /// that lies on the object, a cell's value spread evenly over its rectangle; values below 0 count
  /// as 0. Nothing for a map without a value above 0.
  std::optional<double> energy;
  /// Intersection over union of the object and the cells above the map's mean, the threshold of
  /// Chefer et al. 2021 (arXiv:2012.09838).
  double iou = 0;
};

/// The tolerance of the pointing game in the literature, in pixels of the photo.
inline constexpr double kPointingTolerance = 15;

/// Of an object that the crop cut, energy and iou count the part that the network saw.
/// \param map  [rows, columns]
/// \param mask bool [H, W] over the upright photo
/// \return nothing when the network saw none of the object
/// \throws std::invalid_argument when the mask is not of the photo's size
std::optional<Pointing> pointing(const at::Tensor& map, const image::View& view,
                                 const at::Tensor& mask, double tolerance = kPointingTolerance);

/// The part of each cell's rectangle that belongs to the mask, double [rows, columns]: 0 outside, 1
/// inside, between them at the border.
/// \param mask bool [H, W] over the upright photo
/// \throws std::invalid_argument as pointing
at::Tensor covered_parts(const at::Tensor& mask, const image::View& view, int rows, int columns);

}  // namespace vitascope::explain
