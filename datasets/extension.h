#pragma once

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <string>

/// \file
/// How a file's name ends.
namespace vitascope::datasets {

/// ".jpg" of "folder/PHOTO.JPG"; "" where there is none.
inline std::string lower_extension(const std::string& path) {
  std::string extension = std::filesystem::path(path).extension().string();
  std::transform(extension.begin(), extension.end(), extension.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return extension;
}

}  // namespace vitascope::datasets
