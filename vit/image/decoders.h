#pragma once

#include <string>

#include "vit/image/decode.h"
#include "vit/image/header.h"

/// \file
/// One decoder a family of formats; decode_bytes picks. Each gives a picture as it is stored, not
/// yet turned (HEIF and AVIF excepted), and throws InputError when the file is damaged.
namespace vitascope::image {

/// libjpeg-turbo: every warning is an error unless options.allow_truncated, and then the picture's
/// `warning`.
Picture decode_jpeg(Bytes file, const std::string& path, const Header& header,
                    const DecodeOptions& options);

/// giflib: the first frame, on a screen of its transparent colour (or else colour 0).
Picture decode_gif(Bytes file, const std::string& path, const Header& header);

/// libheif: HEIC and AVIF, turned upright by the decoder.
Picture decode_heif(Bytes file, const std::string& path, const DecodeOptions& options);

/// Our own: every BMP that Pillow reads, whose 16-bit colours OpenCV doesn't scale to 255.
Picture decode_bmp(Bytes file, const std::string& path);

/// OpenCV: PNG, WebP and TIFF.
Picture decode_opencv(Bytes file, const std::string& path, const Header& header);

/// \throws InputError when the picture has more pixels than the options allow
void check_size(Size size, const std::string& path, const DecodeOptions& options);

}  // namespace vitascope::image
