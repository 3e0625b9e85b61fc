#pragma once

#include "app/report/caption_page.h"

/// \file
/// Captions made of formulas, for tests of their page.
namespace vitascope::tests {

/// Three photos of one picture over 14 x 14 cells, the first and the last through a centre crop.
/// The first has two captions, of which the first's "a" looks everywhere alike; the second, by hard
/// attention, has one; that of the third has not come to its end.
app::report::CaptionPage sample_captions();

/// Texts that would break out of the page if they were not escaped, a file name that is not UTF-8,
/// a caption without words; on a grid of 2 x 3 cells that covers the photo.
app::report::CaptionPage hostile_captions();

/// A hundred photos with three captions each.
app::report::CaptionPage many_captions();

}  // namespace vitascope::tests
