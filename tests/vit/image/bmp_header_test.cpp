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

struct Info {
  int width = 3, height = 2, bits = 24, compression = 0, colours = 0;
};

std::string bmp(const Info& info, const std::string& palette, const std::string& pixels) {
  const std::size_t offset = 54 + palette.size();
  return "BM" + little(offset + pixels.size(), 4) + little(0, 4) + little(offset, 4) +
         little(40, 4) + little(static_cast<std::uint32_t>(info.width), 4) +
         little(static_cast<std::uint32_t>(info.height), 4) + little(1, 2) + little(info.bits, 2) +
         little(info.compression, 4) + little(pixels.size(), 4) + little(0, 8) +
         little(info.colours, 4) + little(0, 4) + palette + pixels;
}

std::string refusal(const std::string& file) {
  try {
    read_bmp_header(bytes_of(file), "photo.bmp");
  } catch (const InputError& error) {
    return error.message();
  }
  return "";
}

TEST(BmpHeader, ReadsBothDirections) {
  const std::string pixels(24, 'p');  // two rows of nine bytes, padded to twelve
  BmpLayout layout = read_bmp_layout(bytes_of(bmp({}, "", pixels)), "photo.bmp");
  EXPECT_EQ(layout.size, (Size{3, 2}));
  EXPECT_EQ(layout.row_bytes(), 12u);
  EXPECT_FALSE(layout.top_down);
  layout = read_bmp_layout(bytes_of(bmp({.height = -2}, "", pixels)), "photo.bmp");
  EXPECT_EQ(layout.size, (Size{3, 2}));
  EXPECT_TRUE(layout.top_down);
}

TEST(BmpHeader, CutsThePaletteWhereThePixelsBegin) {
  const std::string file = bmp({.bits = 8, .colours = 200}, "BGR BGR ", std::string(8, 'p'));
  EXPECT_EQ(read_bmp_layout(bytes_of(file), "photo.bmp").palette.size(), 8u);
}

TEST(BmpHeader, RefusesEveryCut) {
  const std::string whole = bmp({}, "", std::string(24, 'p'));
  for (std::size_t length = 18; length < whole.size(); ++length)
    EXPECT_THAT(refusal(whole.substr(0, length)), HasSubstr("cut short")) << length;
  EXPECT_EQ(refusal(whole), "");
}

TEST(BmpHeader, RefusesWhatItCannotBe) {
  const std::string pixels(64, 'p');
  EXPECT_THAT(refusal(bmp({.width = 0}, "", pixels)), HasSubstr("impossible"));
  EXPECT_THAT(refusal(bmp({.width = -3}, "", pixels)), HasSubstr("impossible"));
  EXPECT_THAT(refusal(bmp({.height = -2147483647 - 1}, "", pixels)), HasSubstr("impossible"));
  EXPECT_THAT(refusal(bmp({.bits = 7}, "", pixels)), HasSubstr("7 bits"));
  EXPECT_THAT(refusal(bmp({.compression = 4}, "", pixels)), HasSubstr("compression 4"));
  EXPECT_THAT(refusal(bmp({.compression = 1}, "", pixels)),
              HasSubstr("compression 1 with 24 bits"));
  EXPECT_THAT(refusal(bmp({.bits = 8, .compression = 3}, "", pixels)), HasSubstr("compression 3"));
  EXPECT_THAT(refusal(bmp({.bits = 8, .colours = 70000}, "", pixels)), HasSubstr("70000 colours"));
}

}  // namespace
}  // namespace vitascope::image
