#pragma once

#include <optional>
#include <string>
#include <vector>

#include "app/drawing/colour_bar.h"
#include "app/drawing/overlay.h"

/// \file
/// The strip under a picture that says what it shows.
namespace vitascope::drawing {

/// What stands in a caption, from top to bottom. Long lines are wrapped.
struct Caption {
  std::string headline;            ///< e.g. the prediction
  std::vector<std::string> lines;  ///< e.g. the method, the clipping, what was dimmed
  std::optional<ColourScale> scale;
};

/// The colours of an overlay, for its caption.
ColourScale scale_of(const Overlay& overlay, ColourMap colours);

/// The lines that an overlay owes its reader: that it is constant, what was clipped, what the
/// contour encloses, and that what the network never saw is dimmed.
std::vector<std::string> notes_on(const Overlay& overlay, const OverlayStyle& style);

/// `picture` with the strip under it. Text grows with the picture; one narrower than the least
/// width for text stands in the middle of paper.
Canvas with_caption(const Canvas& picture, const Caption& caption, const Font& font);

}  // namespace vitascope::drawing
