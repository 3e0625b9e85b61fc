#pragma once

#include <optional>
#include <string>
#include <vector>

#include "vit/image/view.h"

/// \file
/// Captions of photos as one HTML page that needs no network and no other file: each word shows
/// where it looked.
namespace vitascope::app::report {

/// A word that was written; "<end>" for the end.
struct WrittenWord {
  std::string text;
  double log_prob = 0;
  std::optional<int> place{};  ///< the cell that hard attention took
};

/// A caption of a photo.
struct WrittenCaption {
  std::string text;
  std::vector<WrittenWord> words;  ///< the end included, where there is one
  std::vector<float> weights;      ///< [T, N]: where each word looked
  double log_prob = 0;             ///< of all words together
  double score = 0;                ///< by which captions are ordered
  bool finished = false;           ///< it came to its end within the longest length
};

/// A photo and what was written of it.
struct CaptionedPhoto {
  std::string name;
  std::string jpeg;                      ///< the photo as a JPEG file, upright, in any size
  image::Size size;                      ///< of the upright photo; rectangles are in its pixels
  image::Rectangle cell;                 ///< what the first cell covers; the others follow
  image::Rectangle seen;                 ///< what the network saw at all
  std::vector<WrittenCaption> captions;  ///< best first; at least one
};

/// All that the page shows. Texts may hold anything: they are escaped here.
struct CaptionPage {
  std::string title;
  std::vector<std::string> facts;  ///< of the captioner, in a few words each
  int rows = 0, columns = 0;       ///< of the grid: N = rows x columns cells, row by row
  std::vector<CaptionedPhoto> photos;
  std::vector<std::string> notes;
};

/// The page. Weights lose precision as PackedMaps says.
/// \throws InternalError when a photo has no caption, weights are not of the words' number and the
/// grid's size, one is NaN or infinite, or a place lies outside of the grid
std::string render(const CaptionPage& page);

}  // namespace vitascope::app::report
