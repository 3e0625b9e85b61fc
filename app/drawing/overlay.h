#pragma once

#include <optional>

#include "app/drawing/canvas.h"
#include "app/drawing/cell_map.h"
#include "app/drawing/colour_map.h"

/// \file
/// A map over the photo that it explains.
namespace vitascope::drawing {

/// The part of the seen area that a contour encloses, see top_threshold.
inline constexpr double kContourPart = 0.2;

/// How a map is laid over a photo.
struct OverlayStyle {
  ColourMap colours = ColourMap::viridis;
  Upsampling upsampling = Upsampling::nearest;  ///< flat cells hide nothing of the grid
  double alpha = 0.6;                           ///< 0: only the photo; 1: only the map
  double low_percentile = 0;                    ///< of the map's values: gets the first colour
  double high_percentile = 100;                 ///< gets the last colour
  std::optional<Range> range;                   ///< shared with other maps; wins over percentiles
  bool contour = false;                         ///< around the top 20% of the seen area
  int width = 0;                                ///< of the result; 0: that of the photo
};

/// A picture, and what its caption must say about it.
struct Overlay {
  Canvas picture;
  Range range;              ///< the values that the first and the last colour stand for
  bool constant = false;    ///< the map has one value everywhere and is drawn flat
  bool below = false;       ///< some values lie below the range and look like its low end
  bool above = false;       ///< some lie above it
  bool dimmed = false;      ///< the network did not see all of the photo
  double contour_area = 0;  ///< part of the seen area inside the contour; 0 without one
};

/// Draws `map` over `photo`, each cell where `view` says that the network looked. Seen pixels are
/// (1 - alpha) photo + alpha colour. What the network never saw turns grey, at 35% of its luma.
/// Where clipping leaves no range although values differ, the range is from the least to the
/// greatest. A constant map has no contour.
/// \throws InputError that names the photo when the map holds NaN or infinity; InternalError when
/// map, view and photo do not belong together
Overlay draw_overlay(const image::Picture& photo, const CellMap& map, const image::View& view,
                     const OverlayStyle& style);

}  // namespace vitascope::drawing
