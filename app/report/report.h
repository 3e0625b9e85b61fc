#pragma once

#include <string>
#include <vector>

#include "vit/classifier.h"
#include "vit/image/view.h"

/// \file
/// What was found on one photo, as one HTML page that needs no network and no other file.
namespace vitascope::app::report {

/// The attention of one layer. N is the number of cells of the grid, which run row by row.
struct Layer {
  int index = 0;             ///< as it is called on the page
  std::vector<float> heads;  ///< [H, N]: to each patch from the token of Report::source
  /// [N, N]: from each patch to each patch, the mean of the heads. Empty: not kept for this layer.
  std::vector<float> patches;
};

/// A map that one method of explanation gives.
struct MethodMap {
  std::string name;
  std::string what;           ///< in one sentence
  std::string citation;       ///< may be empty
  std::string label;          ///< the class that it speaks of; empty: of none
  std::vector<float> values;  ///< [N]
};

/// A line of the table of the audit.
struct AuditRow {
  std::string name, value, meaning;
};

/// All that the page shows. Texts may hold anything: they are escaped here.
struct Report {
  std::string title, model;
  std::string photo;          ///< its name
  std::string jpeg;           ///< the photo as a JPEG file, upright, in any size
  image::Size size;           ///< of the upright photo; rectangles are in its pixels
  std::string input;          ///< how the photo was prepared, in a few words
  int rows = 0, columns = 0;  ///< of the grid
  image::Rectangle cell;      ///< what the first cell covers; the others follow side by side
  image::Rectangle seen;      ///< what the network saw at all
  std::string source = "the class token";  ///< whose attention Layer::heads is
  std::vector<Prediction> predictions;     ///< likeliest first
  std::vector<Layer> layers;               ///< in the order of the slider; all of H heads
  std::vector<MethodMap> methods;
  std::vector<AuditRow> audit;  ///< empty: no audit was made
  std::string verdict;          ///< of the audit, in plain words
  std::vector<std::string> notes;
};

/// The page. Maps lose precision: each is stored in 256 steps between its least and greatest value.
/// \throws InternalError when a map is not of the grid's size or holds NaN or infinity
std::string render(const Report& report);

/// Writes the page to `path` as a whole.
/// \throws UsageError when `path` exists and `force` is false; FailureError when writing fails
void write_html(const std::string& path, const Report& report, bool force);

}  // namespace vitascope::app::report
