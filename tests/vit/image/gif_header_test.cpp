#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/vit/image/bytes_builder.h"
#include "vit/error.h"
#include "vit/image/format_headers.h"

namespace vitascope::image {
namespace {

using ::testing::HasSubstr;
using tests::bytes_of;
using tests::little;
using tests::raw;

std::string screen(int width, int height, const std::string& palette = "") {
  return "GIF89a" + little(width, 2) + little(height, 2) + (palette.empty() ? raw("\0") : "\x80") +
         raw("\0\0") + palette;
}

std::string frame(int left, int top, int width, int height) {
  return "," + little(left, 2) + little(top, 2) + little(width, 2) + little(height, 2) +
         raw("\0\2\3abc\2de\0");
}

const std::string kExtension = raw("!\xf9\4\0\0\0\0\0");

std::string refusal(const std::string& file) {
  try {
    read_gif_header(bytes_of(file), "photo.gif");
  } catch (const InputError& error) {
    return error.message();
  }
  return "";
}

TEST(GifHeader, FindsTheFirstFrame) {
  const std::string file = screen(20, 10, "rgbRGB") + kExtension + frame(1, 2, 5, 6) + ";";
  EXPECT_EQ(read_gif_header(bytes_of(file), "photo.gif").stored, (Size{20, 10}));
}

TEST(GifHeader, GrowsTheScreenForAFrameBeyondIt) {
  const std::string file = screen(20, 10) + frame(18, 2, 5, 30);
  EXPECT_EQ(read_gif_header(bytes_of(file), "photo.gif").stored, (Size{23, 32}));
}

TEST(GifHeader, RefusesEveryCutBeforeTheEndOfTheFrame) {
  const std::string whole = screen(20, 10, "rgbRGB") + kExtension + frame(1, 2, 5, 6);
  for (std::size_t length = 6; length < whole.size(); ++length)
    EXPECT_THAT(refusal(whole.substr(0, length)), HasSubstr("cut short")) << length;
  EXPECT_EQ(refusal(whole), "");
}

TEST(GifHeader, RefusesAFileWithoutPixels) {
  EXPECT_THAT(refusal(screen(20, 10) + ";"), HasSubstr("without a picture"));
  EXPECT_THAT(refusal(screen(20, 10) + frame(0, 0, 0, 6)), HasSubstr("no pixels"));
}

}  // namespace
}  // namespace vitascope::image
