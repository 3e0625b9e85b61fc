#pragma once

#include <string>
#include <vector>

/// \file
/// Where pictures of photos are written.
namespace vitascope::app {

/// What a flag says of that.
struct PictureTarget {
  std::string flag;  ///< for messages: "--output"
  std::string path;  ///< a picture or a folder; empty: none is written
  bool force = false;
};

/// Whether a path names a picture, by its ending, and not a folder: one that is there, has no
/// ending, or ends in a slash.
/// \throws UsageError when the ending is none of a picture's
bool names_a_picture(const std::string& path);

/// Where each photo's picture goes: the file itself for one photo, else a name for each in a
/// folder; nowhere where none is written.
/// \throws UsageError when several photos are to go into one file, or a file is there already
std::vector<std::string> picture_files(const std::vector<std::string>& photos,
                                       const PictureTarget& target);

}  // namespace vitascope::app
