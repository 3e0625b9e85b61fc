#include "app/drawing/write_picture.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cstdint>
#include <filesystem>
#include <opencv2/imgcodecs.hpp>
#include <opencv2/imgproc.hpp>
#include <vector>

#include "vit/error.h"
#include "vit/file.h"
#include "vit/text.h"

namespace vitascope::drawing {
namespace {

/// What OpenCV and the formats themselves know of each.
struct Codec {
  const char* ending;
  const char* name;
  int longest_side;
  int quality;  ///< OpenCV's name of the parameter; 0: there is none
};

Codec codec(PictureFormat format) {
  switch (format) {
    case PictureFormat::jpeg:
      return {".jpg", "JPEG", 65500, cv::IMWRITE_JPEG_QUALITY};
    case PictureFormat::webp:
      return {".webp", "WebP", 16383, cv::IMWRITE_WEBP_QUALITY};
    default:
      return {".png", "PNG", 1000000, 0};
  }
}

}  // namespace

PictureFormat picture_format(const std::string& path) {
  const std::string ending = lower_case(std::filesystem::path(path).extension().string());
  if (ending == ".png") return PictureFormat::png;
  if (ending == ".jpg" || ending == ".jpeg") return PictureFormat::jpeg;
  if (ending == ".webp") return PictureFormat::webp;
  throw UsageError(fmt::format(
      "{}: {}; pictures are written as .png, .jpg, .jpeg or .webp", printable(path),
      ending.empty() ? "has no ending" : fmt::format("unknown ending '{}'", printable(ending))));
}

std::string encode(const Canvas& picture, PictureFormat format, int quality) {
  const Codec chosen = codec(format);
  const image::Size size = picture.size();
  if (std::max(size.width, size.height) > chosen.longest_side) {
    throw FailureError(
        fmt::format("a picture of {} x {} pixels is too large for {} (at most {} a "
                    "side); write PNG or a smaller width",
                    size.width, size.height, chosen.name, chosen.longest_side));
  }
  std::vector<int> parameters;
  if (chosen.quality != 0) parameters = {chosen.quality, std::clamp(quality, 1, 100)};
  // OpenCV takes no pointer to const, but does not write to its input.
  const cv::Mat rgb(size.height, size.width, CV_8UC3,
                    const_cast<std::uint8_t*>(picture.rgb().data()));
  std::vector<std::uint8_t> bytes;
  try {
    cv::Mat bgr;
    cv::cvtColor(rgb, bgr, cv::COLOR_RGB2BGR);
    if (cv::imencode(chosen.ending, bgr, bytes, parameters)) return {bytes.begin(), bytes.end()};
  } catch (const cv::Exception& error) {
    throw FailureError(fmt::format("a picture of {} x {} pixels can't be encoded as {}: {}",
                                   size.width, size.height, chosen.name, error.err));
  }
  throw FailureError(fmt::format("OpenCV can't encode {}", chosen.name));
}

std::string photo_jpeg(const image::Picture& photo, int longest, int quality) {
  const Canvas canvas(photo);
  if (std::max(photo.size.width, photo.size.height) <= longest) {
    return encode(canvas, PictureFormat::jpeg, quality);
  }
  return encode(canvas.resized(fitted(photo.size, {longest, longest})), PictureFormat::jpeg,
                quality);
}

void write_picture(const std::string& path, const Canvas& picture, bool force, int quality) {
  const PictureFormat format = picture_format(path);
  check_writable(path, force);
  write_file(path, force, encode(picture, format, quality));
}

}  // namespace vitascope::drawing
