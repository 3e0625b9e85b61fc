#pragma once

#include <string>

#include "app/drawing/canvas.h"

/// \file
/// Pictures on disk.
namespace vitascope::drawing {

/// What a picture can be written as.
enum class PictureFormat { png, jpeg, webp };

/// By the ending of the file's name, in any case: .png, .jpg, .jpeg or .webp.
/// \throws UsageError that lists them
PictureFormat picture_format(const std::string& path);

/// The bytes of a file. `quality` is from 1 to 100 and means nothing for PNG.
/// \throws FailureError when the picture is too large for the format
std::string encode(const Canvas& picture, PictureFormat format, int quality);

/// The bytes of a JPEG file of a photo, no longer than `longest` pixels on any side.
/// \throws FailureError as encode does
std::string photo_jpeg(const image::Picture& photo, int longest, int quality = 88);

/// Writes the file as a whole, see write_file.
/// \throws UsageError for an unknown ending, or when `path` exists and `force` is false;
/// FailureError when encoding or writing fails
void write_picture(const std::string& path, const Canvas& picture, bool force, int quality = 92);

}  // namespace vitascope::drawing
