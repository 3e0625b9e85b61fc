#include <csetjmp>
#include <cstdio>  // jpeglib.h needs FILE

#include <fmt/format.h>
#include <jerror.h>
#include <jpeglib.h>

#include "vit/error.h"
#include "vit/image/decoders.h"

namespace vitascope::image {
namespace {

/// A progressive JPEG may repeat scans without end, each as costly as the whole picture; cameras
/// and editors write about ten.
constexpr int kMostScans = 500;

/// libjpeg reports errors by a callback that must not return. An exception can't pass through its C
/// frames, so it jumps; for that reason nothing in the functions that call libjpeg owns memory.
struct Decompressor {
  jpeg_decompress_struct jpeg{};
  jpeg_error_mgr errors{};
  jpeg_progress_mgr progress{};
  std::jmp_buf failed{};
  char error[JMSG_LENGTH_MAX] = "";
  char warning[JMSG_LENGTH_MAX] = "";

  Decompressor();
  ~Decompressor() { jpeg_destroy_decompress(&jpeg); }
  Decompressor(const Decompressor&) = delete;
  Decompressor& operator=(const Decompressor&) = delete;

  bool start(Bytes file, int reduction);
  bool read_rows(std::uint8_t* rows, std::size_t stride);
};

Decompressor& owner(j_common_ptr jpeg) { return *static_cast<Decompressor*>(jpeg->client_data); }

void fail(j_common_ptr jpeg) {
  Decompressor& self = owner(jpeg);
  jpeg->err->format_message(jpeg, self.error);
  std::longjmp(self.failed, 1);
}

/// Remembers the first warning that says that pixels may be wrong. An odd JFIF version or an
/// unknown Adobe colour code do not.
void note(j_common_ptr jpeg, int level) {
  if (level >= 0) return;  // a trace message
  const int code = jpeg->err->msg_code;
  if (code == JWRN_JFIF_MAJOR || code == JWRN_ADOBE_XFORM) return;
  Decompressor& self = owner(jpeg);
  if (self.warning[0] == '\0') jpeg->err->format_message(jpeg, self.warning);
}

void count_scans(j_common_ptr jpeg) {
  if (reinterpret_cast<j_decompress_ptr>(jpeg)->input_scan_number <= kMostScans) return;
  Decompressor& self = owner(jpeg);
  std::snprintf(self.error, sizeof self.error, "more than %d scans", kMostScans);
  std::longjmp(self.failed, 1);
}

Decompressor::Decompressor() {
  jpeg.err = jpeg_std_error(&errors);
  errors.error_exit = fail;
  errors.emit_message = note;
  errors.output_message = [](j_common_ptr) {};
  progress.progress_monitor = count_scans;
  jpeg.client_data = this;
  if (setjmp(failed) == 0) jpeg_create_decompress(&jpeg);
  jpeg.progress = &progress;
}

/// Reads the header and starts decompressing to RGB, or to CMYK for four components.
bool Decompressor::start(Bytes file, int reduction) {
  if (error[0] != '\0' || setjmp(failed) != 0) return false;
  jpeg_mem_src(&jpeg, reinterpret_cast<const unsigned char*>(file.data()), file.size());
  jpeg_read_header(&jpeg, TRUE);
  jpeg.out_color_space = jpeg.num_components == 4 ? JCS_CMYK : JCS_RGB;
  jpeg.scale_num = 1;
  jpeg.scale_denom = static_cast<unsigned>(reduction);
  jpeg_start_decompress(&jpeg);
  return true;
}

/// Reads every row, the first to `rows`, the next `stride` bytes further.
bool Decompressor::read_rows(std::uint8_t* rows, std::size_t stride) {
  if (setjmp(failed) != 0) return false;
  while (jpeg.output_scanline < jpeg.output_height) {
    JSAMPROW row = rows + stride * jpeg.output_scanline;
    jpeg_read_scanlines(&jpeg, &row, 1);
  }
  jpeg_finish_decompress(&jpeg);
  return true;
}

/// round(a * b / 255), as Pillow rounds it.
int multiply(int a, int b) {
  const int product = a * b + 128;
  return ((product >> 8) + product) >> 8;
}

/// Adobe's programs store ink inverted (255 is none), and so does every other writer of CMYK JPEG:
/// what is stored is 255 - C. R = (255 - C)(255 - K) / 255 and so on.
void ink_to_rgb(const std::vector<std::uint8_t>& ink, std::vector<std::uint8_t>& rgb) {
  for (std::size_t pixel = 0; pixel * 4 < ink.size(); ++pixel) {
    const int paper = ink[4 * pixel + 3];  // 255 - K
    for (int c = 0; c < 3; ++c)
      rgb[3 * pixel + c] =
          static_cast<std::uint8_t>(paper - multiply(255 - ink[4 * pixel + c], paper));
  }
}

}  // namespace

Picture decode_jpeg(Bytes file, const std::string& path, const Header& header,
                    const DecodeOptions& options) {
  Decompressor decompressor;
  const auto refuse = [&](const char* message) {
    throw InputError(path, fmt::format("damaged JPEG: {}", message));
  };
  if (!decompressor.start(file, options.jpeg_reduction)) refuse(decompressor.error);
  const jpeg_decompress_struct& jpeg = decompressor.jpeg;
  Picture picture;
  picture.size = {static_cast<int>(jpeg.output_width), static_cast<int>(jpeg.output_height)};
  const Size stored{static_cast<int>(jpeg.image_width), static_cast<int>(jpeg.image_height)};
  if (stored != header.stored) refuse("it has two frame headers that differ");
  const std::size_t pixels = static_cast<std::size_t>(picture.size.width) * picture.size.height;
  picture.rgb.resize(pixels * 3);

  const bool inked = jpeg.out_color_space == JCS_CMYK;
  std::vector<std::uint8_t> ink(inked ? pixels * 4 : 0);
  const std::size_t width = picture.size.width;
  if (!decompressor.read_rows(inked ? ink.data() : picture.rgb.data(), width * (inked ? 4 : 3)))
    refuse(decompressor.error);
  if (inked) ink_to_rgb(ink, picture.rgb);
  if (decompressor.warning[0] != '\0') {
    if (!options.allow_truncated)
      throw InputError(path, fmt::format("damaged JPEG: {} (--allow-truncated takes what is there)",
                                         decompressor.warning));
    picture.warning = decompressor.warning;
  }
  return picture;
}

}  // namespace vitascope::image
