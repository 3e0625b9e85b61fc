#include "vit/image/header.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/golden.h"
#include "tests/vit/image/bytes_builder.h"
#include "vit/error.h"

namespace vitascope::image {
namespace {

using ::testing::HasSubstr;
using tests::big;
using tests::bytes_of;
using tests::little;
using tests::raw;

std::string refusal(const std::string& file) {
  try {
    read_header(bytes_of(file), "photo.jpg");
  } catch (const InputError& error) {
    EXPECT_EQ(error.path(), "photo.jpg");
    return error.message();
  }
  return "";
}

TEST(Header, RecognisesContent) {
  const auto format = [](const char* name) {
    const std::string file = read_file(tests::golden(std::string("pictures/") + name), 1 << 20);
    return std::string(format_name(sniff(bytes_of(file))));
  };
  EXPECT_EQ(format("restart.jpg"), "JPEG");
  EXPECT_EQ(format("interlaced.png"), "PNG");
  EXPECT_EQ(format("interlaced.gif"), "GIF");
  EXPECT_EQ(format("animated.webp"), "WebP");
  EXPECT_EQ(format("gray16_little.tif"), "TIFF");
  EXPECT_EQ(format("gray16_big.tif"), "TIFF");
  EXPECT_EQ(format("rle8.bmp"), "BMP");
  EXPECT_EQ(format("core_header.bmp"), "BMP");
  EXPECT_EQ(format("photo.heic"), "HEIF");
  EXPECT_EQ(format("photo.avif"), "AVIF");
}

TEST(Header, TellsHeifFromAvifByEveryBrand) {
  const auto box = [](const std::string& brands) {
    return big(8 + brands.size(), 4) + "ftyp" + brands;
  };
  EXPECT_EQ(sniff(bytes_of(box(raw("mif1\0\0\0\0") + "miafheic"))), Format::heif);
  EXPECT_EQ(sniff(bytes_of(box(raw("mif1\0\0\0\0") + "miafavif"))), Format::avif);
  EXPECT_EQ(sniff(bytes_of(box(raw("isom\0\0\0\0") + "mp41"))), Format::unknown);
  EXPECT_EQ(sniff(bytes_of(box(raw("isom\0\0\0\0")) + "avif")), Format::unknown);
}

TEST(Header, TakesNoTextForABitmap) {
  EXPECT_EQ(sniff(bytes_of("BMW sells cars, motorcycles and more")), Format::unknown);
  EXPECT_EQ(sniff(bytes_of("BM")), Format::unknown);
}

TEST(Header, SaysWhatAFileIsInstead) {
  EXPECT_THAT(refusal(""), HasSubstr("is empty (0 bytes); expected a picture"));
  EXPECT_THAT(refusal("hello\nworld, how are you?"),
              HasSubstr("is not an image (it starts with 'hello\\nworld,...')"));
  EXPECT_THAT(refusal("hi"), HasSubstr("is not an image (it starts with 'hi')"));
  EXPECT_THAT(refusal("%PDF-1.7 ..."), HasSubstr("is a PDF; expected JPEG, PNG"));
  EXPECT_THAT(refusal(raw("\0\0\0\x0cJXL \r\n")), HasSubstr("JPEG XL"));
  EXPECT_THAT(refusal("version https://git-lfs.github.com/spec/v1\n"), HasSubstr("git lfs pull"));
}

TEST(Header, TellsDepthAndChannels) {
  const auto header = [](const char* name) {
    const std::string path = tests::golden(std::string("pictures/") + name);
    return read_header(bytes_of(read_file(path, 1 << 20)), path);
  };
  const Header deep = header("rgba16.png");
  EXPECT_EQ(deep.format, Format::png);
  EXPECT_EQ(deep.stored, (Size{30, 22}));
  EXPECT_EQ(deep.bit_depth, 16);
  EXPECT_EQ(deep.channels, 4);
  EXPECT_EQ(header("gray16_big.tif").bit_depth, 16);
  EXPECT_EQ(header("gray16_big.tif").channels, 1);
  EXPECT_EQ(header("cmyk_plain.jpg").channels, 4);
  EXPECT_EQ(header("gray_2bit.png").bit_depth, 2);
  EXPECT_EQ(header("photo.heic").stored, (Size{0, 0}));
}

}  // namespace
}  // namespace vitascope::image
