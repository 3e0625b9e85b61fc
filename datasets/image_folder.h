#pragma once

#include <string>
#include <vector>

#include "vit/image/header.h"

/// \file
/// What a person means by a file, a folder or a glob of photos.
namespace vitascope::datasets {

/// Photos found for the inputs, in the order of the inputs; inside a folder in natural order.
struct ImageList {
  std::vector<std::string> paths;
  std::vector<std::string>
      failures;  ///< one line each: a folder without pictures, no such file, ...
};

/// Expands files, folders (their pictures by extension in any case; hidden files ignored; with
/// `recursive` folders inside folders too) and globs (*, ?, [..]) that the shell left alone. A file
/// named by itself is taken whatever its extension.
ImageList list_images(const std::vector<std::string>& inputs, bool recursive);

/// What the name's end says of the file, in any case; `unknown` when it is none of a picture.
image::Format format_of_extension(const std::string& path);

/// True for the extensions that a folder scan takes: jpg jpeg jpe jfif png gif webp tif tiff bmp
/// heic heif avif, in any case.
bool has_image_extension(const std::string& path);

/// What lies directly in a folder, each in natural order, hidden names left out.
struct Entries {
  std::vector<std::string> folders, files;
};

/// \throws InputError when there is no such folder or it can't be read
Entries entries(const std::string& folder);

}  // namespace vitascope::datasets
