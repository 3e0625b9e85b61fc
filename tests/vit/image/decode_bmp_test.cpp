#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/vit/image/bytes_builder.h"
#include "vit/error.h"
#include "vit/image/decode.h"

namespace vitascope::image {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using tests::bytes_of;
using tests::little;
using tests::raw;

/// A BMP of 4 x 3 pixels and three colours: black, red, green.
std::string bmp(int bits, int compression, const std::string& pixels) {
  const std::string palette = raw("\0\0\0\0\0\0\xff\0\0\xff\0\0");
  return "BM" + little(66 + pixels.size(), 4) + little(0, 4) + little(66, 4) + little(40, 4) +
         little(4, 4) + little(3, 4) + little(1, 2) + little(bits, 2) + little(compression, 4) +
         little(pixels.size(), 4) + little(0, 8) + little(3, 4) + little(0, 4) + palette + pixels;
}

/// One letter a pixel, the upper row first.
std::string letters(const std::string& file) {
  const Picture picture = decode_bytes(bytes_of(file), "photo.bmp");
  EXPECT_EQ(picture.size, (Size{4, 3}));
  std::string text;
  for (std::size_t i = 0; i < picture.rgb.size(); i += 3)
    text += picture.rgb[i] ? 'r' : picture.rgb[i + 1] ? 'g' : '.';
  return text;
}

TEST(DecodeBmp, FollowsRunsJumpsAndEnds) {
  // The lowest row is stored first.
  EXPECT_EQ(letters(bmp(8, 1, raw("\4\1\0\0\2\2\2\1\0\0\0\3\1\2\1\0\1\2\0\1"))),
            "rgrg"
            "ggrr"
            "rrrr");
  EXPECT_EQ(letters(bmp(8, 1, raw("\1\1\0\2\1\1\1\2\0\1"))),
            "...."
            "..g."
            "r...");
  EXPECT_EQ(letters(bmp(8, 1, raw("\1\1\0\0\1\2\0\1"))),
            "...."
            "g..."
            "r...");
  EXPECT_EQ(letters(bmp(8, 1, raw("\x9\1\0\0\4\2\0\0\4\1"))),
            "rrrr"
            "gggg"
            "rrrr");  // cut at the edge
}

TEST(DecodeBmp, TakesTwoPixelsAByteWithFourBits) {
  EXPECT_EQ(letters(bmp(4, 2, raw("\4\x12\0\0\0\3\x21\x20\0\0\4\x11\0\1"))),
            "rrrr"
            "grg."
            "rgrg");
  EXPECT_EQ(letters(bmp(4, 0, raw("\x12\x10\0\0\x21\x21\0\0\x11\x22\0\0"))),
            "rrgg"
            "grgr"
            "rgr.");
}

TEST(DecodeBmp, ShowsBlackBeyondThePalette) {
  EXPECT_EQ(letters(bmp(8, 0, raw("\1\2\3\xff\1\1\1\1\2\2\2\2"))),
            "gggg"
            "rrrr"
            "rg..");
}

TEST(DecodeBmp, RefusesRunsThatStopEarly) {
  for (const std::string& pixels :
       {raw("\4\1\0\0"), raw("\4\1\0\2\1"), raw("\0\4\1\2"), raw("\4\1\4")})
    try {
      decode_bytes(bytes_of(bmp(8, 1, pixels)), "photo.bmp");
      ADD_FAILURE() << "decoded";
    } catch (const InputError& error) {
      EXPECT_THAT(error.message(), HasSubstr("cut short inside its run lengths"));
    }
}

}  // namespace
}  // namespace vitascope::image
