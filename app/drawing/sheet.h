#pragma once

#include <optional>
#include <string>
#include <vector>

#include "app/drawing/colour_bar.h"

/// \file
/// Several pictures side by side: all heads, all layers, all methods, a folder of photos.
namespace vitascope::drawing {

/// A picture with its label.
struct Panel {
  std::string label;
  Canvas picture;
};

/// A grid of panels under a title.
struct Sheet {
  std::string title;
  std::vector<std::string> notes;  ///< lines under the title
  std::vector<Panel> panels;       ///< row by row
  int columns = 0;      ///< 0: about as many as rows, for a sheet that is wider than high
  int panel_width = 0;  ///< 0: so that the sheet is about 1600 pixels wide
  std::optional<ColourScale> scale;  ///< shared by all panels
};

/// How many columns a sheet of `panels` gets when it is not said.
int sheet_columns(int panels);

/// Draws a sheet. Pictures keep their aspect; each is as large as the panels' room allows, in the
/// middle of it, with its label under it.
/// \throws InternalError when there are no panels
Canvas draw(const Sheet& sheet, const Font& font);

}  // namespace vitascope::drawing
