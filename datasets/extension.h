#pragma once

#include <filesystem>
#include <string>

#include "vit/text.h"

/// \file
/// How a file's name ends.
namespace vitascope::datasets {

/// ".jpg" of "folder/PHOTO.JPG"; "" where there is none.
inline std::string lower_extension(const std::string& path) {
  return lower_case(std::filesystem::path(path).extension().string());
}

}  // namespace vitascope::datasets
