#pragma once

#include <array>

#include "app/drawing/canvas.h"

/// \file
/// The colours that everything here is drawn in.
namespace vitascope::drawing {

inline constexpr Colour kPaper{255, 255, 255};
inline constexpr Colour kInk{27, 31, 36};          ///< headlines, axes
inline constexpr Colour kMuted{87, 96, 106};       ///< what is read second; 6:1 against paper
inline constexpr Colour kHairline{221, 225, 230};  ///< grid lines and frames

/// Series, in this order: the palette of Okabe and Ito (Color Universal Design, 2008), which people
/// with any of the common colour blindnesses can tell apart; its yellow is left out, being too pale
/// on paper.
inline constexpr std::array<Colour, 7> kSeries{{{0, 114, 178},
                                                {213, 94, 0},
                                                {0, 158, 115},
                                                {204, 121, 167},
                                                {230, 159, 0},
                                                {86, 180, 233},
                                                {0, 0, 0}}};

}  // namespace vitascope::drawing
