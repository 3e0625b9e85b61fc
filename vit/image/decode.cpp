#include "vit/image/decode.h"

#include <fmt/format.h>

#include <limits>

#include "vit/error.h"
#include "vit/image/decoders.h"
#include "vit/image/header.h"
#include "vit/image/orientation.h"

namespace vitascope::image {

void check_size(Size size, const std::string& path, const DecodeOptions& options) {
  const double megapixels = static_cast<double>(size.width) * size.height / 1e6;
  if (megapixels > options.max_megapixels)
    throw InputError(
        path, fmt::format("is {} x {} pixels ({:.1f} megapixels), more than the limit of {:g}; "
                          "raise it with --max-pixels if the file is to be trusted",
                          size.width, size.height, megapixels, options.max_megapixels));
}

Picture decode(const std::string& path, const DecodeOptions& options) {
  return decode_bytes(MappedFile::open(path)->bytes(), path, options);
}

Picture decode_bytes(Bytes file, const std::string& path, const DecodeOptions& options) {
  // The decoders count in int.
  if (file.size() > std::numeric_limits<int>::max())
    throw InputError(path, "is larger than 2 GB; no picture is");
  const Header header = read_header(file, path);
  check_size(header.stored, path, options);
  Picture picture;
  switch (header.format) {
    case Format::jpeg:
      picture = decode_jpeg(file, path, header, options);
      break;
    case Format::gif:
      picture = decode_gif(file, path, header);
      break;
    case Format::bmp:
      picture = decode_bmp(file, path);
      break;
    case Format::heif:
    case Format::avif:
      picture = decode_heif(file, path, options);
      break;
    default:
      picture = decode_opencv(file, path, header);
      break;
  }
  picture.path = path;
  apply_orientation(picture, header.orientation);
  return picture;
}

}  // namespace vitascope::image
