#include "vit/image/header.h"

#include <algorithm>
#include <string_view>

#include "vit/error.h"
#include "vit/image/byte_reader.h"
#include "vit/image/format_headers.h"
#include "vit/text.h"

namespace vitascope::image {
namespace {

std::string_view text_of(Bytes bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

/// The brand of an ISO base media file ("ftyp" box): HEIF and AVIF differ in nothing else.
Format sniff_brands(std::string_view start, Bytes file) {
  if (start.size() < 16 || start.substr(4, 4) != "ftyp") return Format::unknown;
  std::uint32_t length = 0;
  for (int i = 0; i < 4; ++i) length = length << 8 | std::to_integer<std::uint32_t>(file[i]);
  const std::string_view box = text_of(file).substr(0, std::min<std::size_t>(length, 256));
  bool heif = false;
  for (std::size_t at = 8; at + 4 <= box.size(); at += at == 8 ? 8 : 4) {  // skips the version
    const std::string_view brand = box.substr(at, 4);
    if (brand == "avif" || brand == "avis") return Format::avif;
    for (const char* known : {"heic", "heix", "heim", "heis", "hevc", "hevx", "mif1", "msf1"})
      heif = heif || brand == known;
  }
  return heif ? Format::heif : Format::unknown;
}

/// What a file that is no picture seems to be, in words that help whoever named it.
std::string describe_other(Bytes file) {
  const std::string_view start = text_of(file).substr(0, 64);
  constexpr struct {
    std::string_view magic;
    const char* name;
  } known[] = {
      {"%PDF", "a PDF"},
      {"<svg", "an SVG drawing"},
      {"8BPS", "a Photoshop document"},
      {"PK\x03\x04", "a zip archive"},
      {"\x1f\x8b", "a gzip archive"},
      {"\xff\x0a", "a JPEG XL picture, which is not supported"},
      {std::string_view("\0\0\0\x0cJXL ", 8), "a JPEG XL picture, which is not supported"},
      {std::string_view("\0\0\0\x0cjP  ", 8), "a JPEG 2000 picture, which is not supported"},
      {"version https://git-lfs", "a Git LFS pointer: run 'git lfs pull'"}};
  for (const auto& [magic, name] : known)
    if (start.starts_with(magic)) return fmt::format("is {}", name);
  const std::size_t shown = std::min<std::size_t>(start.size(), 12);
  return fmt::format("is not an image (it starts with '{}{}')", printable(start.substr(0, shown)),
                     shown < file.size() ? "..." : "");
}

}  // namespace

const char* format_name(Format format) {
  switch (format) {
    case Format::jpeg:
      return "JPEG";
    case Format::png:
      return "PNG";
    case Format::gif:
      return "GIF";
    case Format::webp:
      return "WebP";
    case Format::tiff:
      return "TIFF";
    case Format::bmp:
      return "BMP";
    case Format::heif:
      return "HEIF";
    case Format::avif:
      return "AVIF";
    case Format::unknown:
      break;
  }
  return "unknown";
}

Format sniff(Bytes file) {
  const std::string_view start = text_of(file).substr(0, 32);
  if (start.starts_with("\xff\xd8\xff")) return Format::jpeg;
  if (start.starts_with("\x89PNG\r\n\x1a\n")) return Format::png;
  if (start.starts_with("GIF87a") || start.starts_with("GIF89a")) return Format::gif;
  if (start.starts_with("RIFF") && start.size() >= 12 && start.substr(8, 4) == "WEBP")
    return Format::webp;
  if (start.starts_with(std::string_view("II*\0", 4)) ||
      start.starts_with(std::string_view("MM\0*", 4)) ||
      start.starts_with(std::string_view("II+\0", 4)) ||
      start.starts_with(std::string_view("MM\0+", 4)))
    return Format::tiff;
  if (start.starts_with("BM") && start.size() >= 18) {
    // Two letters are too few to go by: the size of the header that follows must be a known one.
    const auto size = std::to_integer<int>(file[14]);
    const bool small = text_of(file).substr(15, 3) == std::string_view("\0\0\0", 3);
    for (const int known : {12, 40, 52, 56, 64, 108, 124})
      if (small && size == known) return Format::bmp;
  }
  return sniff_brands(start, file);
}

Header read_header(Bytes file, const std::string& path) {
  if (file.empty()) throw InputError(path, "is empty (0 bytes); expected a picture");
  Header header;
  const Format format = sniff(file);
  switch (format) {
    case Format::jpeg:
      header = read_jpeg_header(file, path);
      break;
    case Format::png:
      header = read_png_header(file, path);
      break;
    case Format::gif:
      header = read_gif_header(file, path);
      break;
    case Format::webp:
      header = read_webp_header(file, path);
      break;
    case Format::tiff:
      header = read_tiff_header(file, path);
      break;
    case Format::bmp:
      header = read_bmp_header(file, path);
      break;
    case Format::heif:
    case Format::avif:
      header = read_heif_header(file, path);
      break;
    case Format::unknown:
      throw InputError(
          path, describe_other(file) + "; expected JPEG, PNG, GIF, WebP, TIFF, BMP, HEIC or AVIF");
  }
  header.format = format;
  return header;
}

}  // namespace vitascope::image
