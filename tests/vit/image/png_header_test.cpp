#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <zlib.h>

#include "tests/vit/image/bytes_builder.h"
#include "vit/error.h"
#include "vit/image/format_headers.h"

namespace vitascope::image {
namespace {

using ::testing::HasSubstr;
using tests::big;
using tests::bytes_of;
using tests::raw;

const std::string kSignature = raw("\x89PNG\r\n\x1a\n");

std::string chunk(const std::string& type, const std::string& data) {
  const std::string body = type + data;
  return big(data.size(), 4) + body +
         big(crc32_z(0, reinterpret_cast<const Bytef*>(body.data()), body.size()), 4);
}

std::string head(std::uint32_t width, std::uint32_t height, int depth = 8, int colour = 2) {
  return kSignature + chunk("IHDR", big(width, 4) + big(height, 4) + big(depth, 1) +
                                        big(colour, 1) + raw("\0\0\0"));
}

const std::string kEnd = chunk("IDAT", "pixels") + chunk("IEND", "");

std::string refusal(const std::string& file) {
  try {
    read_png_header(bytes_of(file), "photo.png");
  } catch (const InputError& error) {
    return error.message();
  }
  return "";
}

TEST(PngHeader, WalksToTheEnd) {
  const std::string file = head(9, 4, 16, 4) + chunk("tEXt", "a text") + kEnd + "trailing bytes";
  const Header header = read_png_header(bytes_of(file), "photo.png");
  EXPECT_EQ(header.stored, (Size{9, 4}));
  EXPECT_EQ(header.bit_depth, 16);
  EXPECT_EQ(header.channels, 2);
}

TEST(PngHeader, RefusesEveryCut) {
  const std::string whole = head(9, 4) + chunk("tEXt", "a text") + kEnd;
  for (std::size_t length = kSignature.size(); length < whole.size(); ++length)
    EXPECT_THAT(refusal(whole.substr(0, length)), HasSubstr("cut short")) << length;
  EXPECT_EQ(refusal(whole), "");
}

TEST(PngHeader, RefusesWhatContradictsItself) {
  EXPECT_THAT(refusal(kSignature + chunk("tEXt", "first") + kEnd), HasSubstr("begin with an IHDR"));
  EXPECT_THAT(refusal(head(0, 4) + kEnd), HasSubstr("0 x 4 is impossible"));
  EXPECT_THAT(refusal(head(0x80000000, 4) + kEnd), HasSubstr("impossible"));
  EXPECT_THAT(refusal(head(9, 4, 7) + kEnd), HasSubstr("colour type 2 with 7 bits"));
  EXPECT_THAT(refusal(head(9, 4, 16, 3) + kEnd), HasSubstr("colour type 3 with 16 bits"));
  EXPECT_THAT(refusal(head(9, 4, 8, 5) + kEnd), HasSubstr("colour type 5"));
  EXPECT_THAT(refusal(head(9, 4, 8, 3) + kEnd), HasSubstr("palette is missing"));
  EXPECT_THAT(refusal(head(9, 4) + chunk("IEND", "")), HasSubstr("no IDAT"));
  EXPECT_THAT(refusal(head(9, 4) + head(9, 5).substr(8) + kEnd), HasSubstr("second IHDR"));
}

TEST(PngHeader, KeepsOnlyWhatThePixelsNeed) {
  const std::string text = chunk("iCCP", "a profile that libpng would comment on");
  const std::string file = head(9, 4) + text + chunk("PLTE", "abc") + text + kEnd + "trailing";
  const std::vector<std::byte> kept = essential_png(bytes_of(file), "photo.png");
  const std::string expected = head(9, 4) + chunk("PLTE", "abc") + kEnd;
  EXPECT_EQ(std::string(reinterpret_cast<const char*>(kept.data()), kept.size()), expected);
}

TEST(PngHeader, ChecksTheChecksumsOfWhatItKeeps) {
  std::string file = head(9, 4) + kEnd;
  file[file.find("pixels")] = 'P';
  EXPECT_THROW(essential_png(bytes_of(file), "photo.png"), InputError);
}

}  // namespace
}  // namespace vitascope::image
