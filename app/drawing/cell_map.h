#pragma once

#include <vector>

#include "vit/image/picture.h"
#include "vit/image/view.h"

/// \file
/// A map of one number a cell of the patch grid, and its values at the pixels of the photo.
namespace vitascope::drawing {

/// What an explanation gives for each patch.
struct CellMap {
  int rows = 0, columns = 0;
  std::vector<float> values;  ///< [rows, columns], row by row
};

/// From the value that gets the first colour to the one that gets the last.
struct Range {
  double low = 0, high = 0;
  bool operator==(const Range&) const = default;
};

/// How far `value` lies between the ends of `range`, clamped to 0 and 1; one half when the ends are
/// the same and so is the value.
double part_of(Range range, double value);

/// The percentiles `low` and `high` (0 to 100) of `values`, interpolated linearly between ranks as
/// numpy.percentile does. Pool the values of several maps to get one scale for all.
/// \throws InternalError when there are no values or not 0 <= low < high <= 100
Range percentile_range(std::vector<float> values, double low, double high);

/// Between the centres of cells: none (each cell is flat), straight lines, or Keys' cubic with
/// a = -0.5 (1981), as in Pillow. Beyond the outer centres the outer cells go on.
enum class Upsampling { nearest, bilinear, bicubic };

/// The map at each pixel of the upright photo, drawn in a size of its own.
struct Field {
  image::Size size;
  std::vector<float> values;  ///< [height, width]; meaningless where the network saw nothing
  std::vector<char> seen_columns, seen_rows;  ///< a pixel was seen when its column and row were

  bool seen(int x, int y) const {
    return seen_columns[static_cast<std::size_t>(x)] != 0 &&
           seen_rows[static_cast<std::size_t>(y)] != 0;
  }
  float at(int x, int y) const {
    return values[static_cast<std::size_t>(y) * static_cast<std::size_t>(size.width) +
                  static_cast<std::size_t>(x)];
  }
};

/// Samples `map` at the centre of each pixel of the photo drawn at `size`, where `view` says that
/// the cells lie.
Field sample(const CellMap& map, const image::View& view, image::Size size, Upsampling upsampling);

/// The value that bounds the top `part` of the seen area: the greatest t such that the pixels with
/// at least the value t are at least `part` of all seen pixels. Equal values go together, so the
/// area can be larger. Infinity when no pixel was seen.
float top_threshold(const Field& field, double part);

}  // namespace vitascope::drawing
