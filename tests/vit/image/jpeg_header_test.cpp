#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/vit/image/bytes_builder.h"
#include "vit/error.h"
#include "vit/image/format_headers.h"

namespace vitascope::image {
namespace {

using ::testing::HasSubstr;
using tests::big;
using tests::bytes_of;
using tests::raw;

std::string segment(int marker, const std::string& body) {
  return big(0xFF00 | marker, 2) + big(body.size() + 2, 2) + body;
}

std::string frame(int width, int height) {
  return segment(0xC0,
                 big(8, 1) + big(height, 2) + big(width, 2) + raw("\3\1\x11\0\2\x11\1\3\x11\1"));
}

const std::string kStart = "\xff\xd8";
const std::string kScan = segment(0xDA, raw("\1\1\0\0\x3f\0"));

Header read(const std::string& file) { return read_jpeg_header(bytes_of(file), "photo.jpg"); }

std::string refusal(const std::string& file) {
  try {
    read(file);
  } catch (const InputError& error) {
    return error.message();
  }
  return "";
}

TEST(JpegHeader, FindsTheFrameBehindOtherSegments) {
  const std::string table = segment(0xC4, "a Huffman table is no frame");
  const Header header = read(kStart + segment(0xE0, "JFIF") + table + frame(640, 480) + kScan);
  EXPECT_EQ(header.stored, (Size{640, 480}));
  EXPECT_EQ(header.channels, 3);
  EXPECT_EQ(header.orientation, 1);
}

TEST(JpegHeader, SkipsStrayAndFillBytes) {
  EXPECT_EQ(read(kStart + "stray" + raw("\xff\0") + "\xff\xff" + frame(7, 5) + kScan).stored,
            (Size{7, 5}));
}

TEST(JpegHeader, SaysWhereItIsDamaged) {
  EXPECT_THAT(refusal(kStart + frame(7, 5)), HasSubstr("the JPEG is cut short"));
  EXPECT_THAT(refusal(kStart + kScan), HasSubstr("no frame header"));
  EXPECT_THAT(refusal(kStart + raw("\xff\xd9")), HasSubstr("byte 2"));
  EXPECT_THAT(refusal(kStart + frame(7, 0) + kScan), HasSubstr("no pixels"));
  EXPECT_THAT(refusal(kStart + raw("\xff\xe0\0\1")), HasSubstr("shorter than its own length"));
  EXPECT_THAT(refusal(kStart + segment(0xC0, "short") + kScan), HasSubstr("too short"));
  EXPECT_THAT(refusal(kStart + raw("\xff\xe0\xff\xff") + "end"),
              HasSubstr("65535 bytes are needed"));
}

}  // namespace
}  // namespace vitascope::image
