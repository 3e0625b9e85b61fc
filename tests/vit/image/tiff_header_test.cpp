#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <vector>

#include "tests/vit/image/bytes_builder.h"
#include "vit/error.h"
#include "vit/image/format_headers.h"

namespace vitascope::image {
namespace {

using ::testing::HasSubstr;
using tests::bytes_of;
using tests::little;
using tests::raw;

/// Tag -> numbers, all written as LONG, or as SHORT for the tags of `shorts`.
using Tags = std::map<int, std::vector<std::uint32_t>>;

constexpr int kWidth = 256, kHeight = 257, kBits = 258, kStrips = 273, kOrientation = 274,
              kStripBytes = 279, kAlpha = 338, kSampleFormat = 339;

/// A little-endian TIFF: 12 bytes of pixels at byte 8, the directory at byte 20, then longer
/// values.
std::string tiff(const Tags& tags) {
  std::string entries;
  std::string values;
  const std::size_t after = 20 + 2 + 12 * tags.size() + 4;
  for (const auto& [tag, numbers] : tags) {
    const bool is_short = tag == kOrientation || tag == kAlpha;
    std::string data;
    for (const std::uint32_t number : numbers) data += little(number, is_short ? 2 : 4);
    entries += little(tag, 2) + little(is_short ? 3 : 4, 2) + little(numbers.size(), 4);
    if (data.size() <= 4) {
      entries += data + std::string(4 - data.size(), '\0');
    } else {
      entries += little(after + values.size(), 4);
      values += data;
    }
  }
  return raw("II*\0") + little(20, 4) + "twelve bytes" + little(tags.size(), 2) + entries +
         little(0, 4) + values;
}

const Tags kPlain{{kWidth, {4}}, {kHeight, {3}}, {kBits, {8}}, {kStrips, {8}}, {kStripBytes, {12}}};

Tags with(int tag, std::vector<std::uint32_t> numbers) {
  Tags tags = kPlain;
  tags[tag] = std::move(numbers);
  return tags;
}

std::string refusal(const std::string& file) {
  try {
    read_tiff_header(bytes_of(file), "photo.tif");
  } catch (const InputError& error) {
    return error.message();
  }
  return "";
}

TEST(TiffHeader, ReadsTheFirstDirectory) {
  const std::string file = tiff(with(kOrientation, {7}));
  const Header header = read_tiff_header(bytes_of(file), "photo.tif");
  EXPECT_EQ(header.stored, (Size{4, 3}));
  EXPECT_EQ(header.bit_depth, 8);
  EXPECT_EQ(header.channels, 1);
  EXPECT_EQ(header.orientation, 7);
}

TEST(TiffHeader, FindsWhereTheNumbersLie) {
  const std::string file = tiff(with(kOrientation, {7}));
  const auto at = tiff_orientation_offset(bytes_of(file), "photo.tif");
  ASSERT_TRUE(at);
  EXPECT_EQ(file[*at], 7);
  EXPECT_FALSE(tiff_orientation_offset(bytes_of(tiff(kPlain)), "photo.tif"));
  const std::string alpha = tiff(with(kAlpha, {2}));
  ASSERT_TRUE(tiff_alpha_offset(bytes_of(alpha), "photo.tif"));
  EXPECT_EQ(alpha[*tiff_alpha_offset(bytes_of(alpha), "photo.tif")], 2);
  EXPECT_FALSE(tiff_alpha_offset(bytes_of(tiff(kPlain)), "photo.tif"));
}

TEST(TiffHeader, RefusesEveryCut) {
  const std::string whole = tiff(with(kBits, {8, 8, 8}));
  for (std::size_t length = 4; length < whole.size(); ++length)
    EXPECT_THAT(refusal(whole.substr(0, length)), HasSubstr("cut short")) << length;
  EXPECT_EQ(refusal(whole), "");
}

TEST(TiffHeader, RefusesPixelsThatLieElsewhere) {
  EXPECT_THAT(refusal(tiff(with(kStripBytes, {1000}))),
              HasSubstr("1000 bytes are needed at byte 8"));
  EXPECT_THAT(refusal(tiff(with(kStrips, {0xFFFFFFF0}))), HasSubstr("at byte 4294967280"));
  Tags none = kPlain;
  none.erase(kStrips);
  EXPECT_THAT(refusal(tiff(none)), HasSubstr("no pixel data"));
}

TEST(TiffHeader, RefusesWhatIsNoPicture) {
  EXPECT_THAT(refusal(tiff(with(kWidth, {0}))), HasSubstr("0 x 3 is impossible"));
  EXPECT_THAT(refusal(tiff(with(kHeight, {0x80000000}))), HasSubstr("impossible"));
  EXPECT_THAT(refusal(tiff(with(kBits, {32}))), HasSubstr("32-bit"));
  EXPECT_THAT(refusal(tiff(with(kSampleFormat, {3}))), HasSubstr("floating-point"));
  std::string big = tiff(kPlain);
  big[2] = 43;
  EXPECT_THAT(refusal(big), HasSubstr("BigTIFF"));
}

}  // namespace
}  // namespace vitascope::image
