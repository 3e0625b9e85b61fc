#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "vit/image/picture.h"

/// \file
/// A part of a picture given by polygons or by runs, and which pixels it has.
namespace vitascope::datasets {

/// A part of a picture, in the pixels of the size that the picture was annotated at: all that lies
/// in a polygon or in a run.
struct MaskRegion {
  /// x, y, x, y, ... of the corners of each; whole numbers are the edges of pixels.
  std::vector<std::vector<double>> polygons;
  /// Lengths of runs outside and inside by turns, outside first, down one column after the other.
  std::vector<std::int64_t> runs;
};

/// The pixels of a mask, [height, width], row by row.
struct MaskPixels {
  std::span<bool> pixels;
  image::Size size;
};

/// Sets the pixels of `mask` that the region has after it was stretched from `annotated` to the
/// mask's size; the others stay as they are.
///
/// A polygon has the pixels whose centre lies in it by the even-odd rule. Of the rules tried this
/// is the nearest to pycocotools, which walks over the outline in fifths of a pixel: on 683
/// polygons of COCO with 200 pixels or more the intersection over union with its masks is .991,
/// that of OpenCV's fillPoly, which draws the outline as well, .930.
///
/// Runs give exactly the pixels of pycocotools; stretched, each pixel takes the one that its centre
/// falls on.
/// \param annotated at least 1 x 1; the runs add up to its pixels, or there are none
void draw(const MaskRegion& region, image::Size annotated, const MaskPixels& mask);

/// Runs from the text of COCO's compressed form: numbers of 5 bits a character, the lowest first,
/// from the fourth on as the difference from the one two before.
/// \return nothing when the text is no such list
std::optional<std::vector<std::int64_t>> decode_runs(std::string_view text);

}  // namespace vitascope::datasets
