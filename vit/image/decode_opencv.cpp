#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <opencv2/core.hpp>
#include <opencv2/core/utils/logger.hpp>
#include <opencv2/imgcodecs.hpp>
#include <opencv2/imgproc.hpp>

#include "vit/error.h"
#include "vit/image/decoders.h"
#include "vit/image/format_headers.h"
#include "vit/image/muted_error_stream.h"

namespace vitascope::image {
namespace {

/// Photos are decoded by threads of our own, so that OpenCV needs none; and what is wrong with one
/// is said by InputError alone.
bool set_up_opencv() {
  cv::utils::logging::setLogLevel(cv::utils::logging::LOG_LEVEL_SILENT);
  cv::setNumThreads(1);
  return true;
}

/// \return BGR, BGRA or gray with 8 or 16 bits, as `flags` ask for
cv::Mat imdecode(Bytes file, const std::string& path, const Header& header, int flags) {
  [[maybe_unused]] static const bool ready = set_up_opencv();
  const cv::Mat input(1, static_cast<int>(file.size()), CV_8U,
                      const_cast<std::byte*>(file.data()));  // imdecode only reads it
  cv::Mat decoded;
  const MutedErrorStream muted;
  try {
    decoded = cv::imdecode(input, flags | cv::IMREAD_IGNORE_ORIENTATION);
  } catch (const cv::Exception& error) {
    throw InputError(
        path, fmt::format("damaged or unsupported {}: {}", format_name(header.format), error.err));
  }
  if (decoded.empty())
    throw InputError(path, fmt::format("damaged or unsupported {}: its pixels can't be decoded",
                                       format_name(header.format)));
  return decoded;
}

/// Whether the picture is gray with 16 bits. Scaled by 1/257 to 8 bits; where Pillow would clip it.
bool is_gray16(const Header& header) { return header.bit_depth == 16 && header.channels == 1; }

/// Undoes the multiplication of a colour with its alpha.
std::uint8_t divide(std::uint8_t colour, std::uint8_t alpha) {
  return alpha == 0 ? 0 : static_cast<std::uint8_t>(std::min(255 * colour / alpha, 255));
}

/// 8-bit RGB of whatever imdecode gave: alpha dropped, 16-bit gray rounded, 16-bit colour cut to
/// the high byte. With `multiplied`, the alpha was multiplied into the colours.
void to_rgb(const cv::Mat& decoded, bool gray16, bool multiplied, std::uint8_t* rgb) {
  const int channels = decoded.channels();
  for (int y = 0; y < decoded.rows; ++y)
    for (int x = 0; x < decoded.cols; ++x, rgb += 3) {
      std::array<std::uint8_t, 4> pixel{};
      for (int c = 0; c < channels; ++c) {
        const int at = channels * x + c;
        if (decoded.depth() == CV_8U) {
          pixel[c] = decoded.ptr<std::uint8_t>(y)[at];
        } else {
          const int value = decoded.ptr<std::uint16_t>(y)[at];
          pixel[c] = static_cast<std::uint8_t>(gray16 ? (value + 128) / 257 : value >> 8);
        }
      }
      for (int c = 0; c < 3; ++c) rgb[c] = pixel[channels >= 3 ? 2 - c : 0];
      if (multiplied && channels == 4)
        for (int c = 0; c < 3; ++c) rgb[c] = divide(rgb[c], pixel[3]);
    }
}

Picture picture_of(const cv::Mat& decoded, const std::string& path, const Header& header,
                   bool multiplied = false) {
  if ((decoded.depth() != CV_8U && decoded.depth() != CV_16U) || decoded.channels() > 4)
    throw InputError(path, "has pixels that are neither 8 nor 16 bits wide; expected one of them");
  Picture picture;
  picture.size = {decoded.cols, decoded.rows};
  picture.rgb.resize(static_cast<std::size_t>(decoded.cols) * decoded.rows * 3);
  if (decoded.type() == CV_8UC3) {
    cv::Mat rgb(decoded.rows, decoded.cols, CV_8UC3, picture.rgb.data());
    cv::cvtColor(decoded, rgb, cv::COLOR_BGR2RGB);
  } else {
    to_rgb(decoded, is_gray16(header), multiplied, picture.rgb.data());
  }
  return picture;
}

Picture decode_png(Bytes file, const std::string& path, const Header& header) {
  const std::vector<std::byte> essential = essential_png(file, path);
  const int flags = is_gray16(header) ? cv::IMREAD_UNCHANGED : cv::IMREAD_COLOR;
  return picture_of(imdecode(essential, path, header, flags), path, header);
}

/// Overwrites a TIFF's SHORT in place.
void set_short(std::vector<std::byte>& tiff, std::size_t at, int value) {
  const bool big = tiff[0] == std::byte('M');
  tiff[at] = std::byte(big ? 0 : value);
  tiff[at + 1] = std::byte(big ? value : 0);
}

/// libtiff multiplies a picture's alpha into its colours, and OpenCV turns it in its own way
/// whatever the flags say. So they are handed a copy that says that it is upright and that its
/// alpha means nothing.
Picture decode_tiff(Bytes file, const std::string& path, const Header& header) {
  std::vector<std::byte> plain(file.begin(), file.end());
  if (const auto at = tiff_orientation_offset(file, path)) set_short(plain, *at, 1);
  bool multiplied = false;
  if (const auto at = tiff_alpha_offset(file, path)) {
    multiplied = plain[*at] == std::byte(1) || plain[*at + 1] == std::byte(1);
    set_short(plain, *at, 0);
  }
  const bool unchanged = header.bit_depth == 16 || multiplied;
  const int flags = unchanged ? cv::IMREAD_UNCHANGED : cv::IMREAD_COLOR;
  return picture_of(imdecode(plain, path, header, flags), path, header, multiplied);
}

Picture decode_webp(Bytes file, const std::string& path, const Header& header) {
  const auto frame = first_webp_frame(file, path);
  if (!frame) return picture_of(imdecode(file, path, header, cv::IMREAD_COLOR), path, header);
  Header still = header;
  still.stored = frame->size;
  const Picture part =
      picture_of(imdecode(frame->file, path, still, cv::IMREAD_COLOR), path, still);
  Picture picture;
  picture.size = header.stored;  // black outside the frame
  picture.rgb.resize(static_cast<std::size_t>(picture.size.width) * picture.size.height * 3);
  const std::size_t row = static_cast<std::size_t>(part.size.width) * 3;
  for (int y = 0; y < part.size.height; ++y)
    std::memcpy(
        &picture
             .rgb[((frame->top + y) * static_cast<std::size_t>(picture.size.width) + frame->left) *
                  3],
        &part.rgb[y * row], row);
  return picture;
}

}  // namespace

Picture decode_opencv(Bytes file, const std::string& path, const Header& header) {
  Picture picture;
  switch (header.format) {
    case Format::png:
      picture = decode_png(file, path, header);
      break;
    case Format::tiff:
      picture = decode_tiff(file, path, header);
      break;
    case Format::webp:
      picture = decode_webp(file, path, header);
      break;
    default:
      picture = picture_of(imdecode(file, path, header, cv::IMREAD_COLOR), path, header);
  }
  if (picture.size != header.stored)
    throw InputError(
        path, fmt::format("damaged {}: its header says {} x {} pixels, its data {} x {}",
                          format_name(header.format), header.stored.width, header.stored.height,
                          picture.size.width, picture.size.height));
  return picture;
}

}  // namespace vitascope::image
