#pragma once

#include <vector>

#include "app/drawing/canvas.h"
#include "app/drawing/text.h"
#include "app/run_log.h"

/// \file
/// How a run went, as a picture.
namespace vitascope::app {

/// Loss, accuracy (with the other figures of validation) and learning rate over epochs, one chart
/// below the other; the epoch whose weights were kept is marked.
/// \param rows one at least
drawing::Canvas draw_curves(const std::vector<LogRow>& rows, const drawing::Font& font);

}  // namespace vitascope::app
