#pragma once

#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "app/output.h"
#include "vit/caption/captioning.h"
#include "vit/caption/vocabulary.h"
#include "vit/image/view.h"

/// \file
/// What `caption` says of a photo, as text, JSON and CSV.
namespace vitascope::app {

/// A word of a caption.
struct CaptionWord {
  std::string text;  ///< "<end>" for the end
  double log_prob = 0;
  std::vector<float> weights;  ///< [rows, columns] of the grid: where it looked
  std::optional<int> place{};  ///< the cell that hard attention took
};

/// One caption of a photo.
struct CaptionText {
  std::string text;
  std::vector<CaptionWord> words;  ///< the end included, where there is one
  double log_prob = 0;             ///< of all words together
  double score = 0;                ///< by which captions are ordered
  bool finished = false;           ///< it came to its end within the longest length
};

/// All of a photo.
struct PhotoCaptions {
  std::string path;
  image::Size size;                   ///< upright
  image::View view;                   ///< where the grid lies
  int rows = 0, columns = 0;          ///< of the grid
  std::vector<CaptionText> captions;  ///< best first
};

/// The words of a decoder's sentence.
CaptionText caption_text(const caption::Caption& caption, const caption::Vocabulary& vocabulary);

/// Text: the path and the best caption on a line, further ones under it. JSON, one object a line,
/// see caption_json. CSV: path, rank, caption, log_prob, score.
std::string render(const PhotoCaptions& result, output::Format format);

/// path, width, height, grid [rows, columns], captions [{text, log_prob, score, finished, words
/// [{word, log_prob, weight, box}]}], where box is the cell that got the largest weight, in pixels
/// of the upright photo: left, top, right, bottom.
nlohmann::ordered_json caption_json(const PhotoCaptions& photo);

/// The line before the first result: CSV's column names.
std::string caption_header(output::Format format);

}  // namespace vitascope::app
