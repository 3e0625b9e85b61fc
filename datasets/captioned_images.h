#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "datasets/labelled_images.h"

/// \file
/// Photos with what people wrote of them, whatever file that comes from.
namespace vitascope::datasets {

/// A photo and its captions.
struct CaptionedImage {
  std::string path;                   ///< as the file names it, or where open_captions() found it
  std::vector<std::string> captions;  ///< one or more, none of them empty
  Split split = Split::none;
  std::string id;  ///< COCO's image id in digits; else the name of the photo's file
};

/// A captioned set of photos.
struct CaptionedImages {
  std::string source;                  ///< what the file was taken for, in words
  std::vector<CaptionedImage> photos;  ///< each path once, in the file's order
  std::vector<std::string> notes;      ///< what was left out or looked odd, a line each
};

/// The photos of a split: ascending indices.
std::vector<std::size_t> photos_of(const CaptionedImages& images, Split split);

/// "a, b, c and 5 more": the first few of a list of names, each fit to be shown.
std::string first_few(const std::vector<std::string>& names);

/// Reads a file of captions and finds out by its content which it is: Flickr8k's and Flickr30k's
/// token file, a table with a header (see caption_text.h), COCO's captions, or the JSON that
/// Karpathy split (see caption_json.h). White space around captions goes. Captions that are empty,
/// and photos without any other, are left out and told in a note; photos that stand at several
/// places become one.
/// \param path names the file in errors
/// \throws InputError when it is none of these or damaged, when it is not UTF-8, or holds no
/// caption
CaptionedImages parse_captions(std::string_view text, const std::string& path);

}  // namespace vitascope::datasets
