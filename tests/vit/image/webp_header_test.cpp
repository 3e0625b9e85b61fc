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

std::string chunk(const std::string& type, const std::string& data) {
  return type + little(data.size(), 4) + data + std::string(data.size() % 2, '\0');
}

std::string riff(const std::string& chunks) {
  return "RIFF" + little(chunks.size() + 4, 4) + "WEBP" + chunks;
}

std::string lossy(int width, int height) {
  return chunk("VP8 ", raw("\x10\0\0\x9d\1\x2a") + little(width, 2) + little(height, 2) + "data");
}

std::string lossless(int width, int height) {
  return chunk("VP8L", "\x2f" + little((width - 1) | (height - 1) << 14, 4) + "data");
}

std::string canvas(int width, int height) {
  return chunk("VP8X", little(2, 4) + little(width - 1, 3) + little(height - 1, 3));
}

std::string animation(int left, int top, int width, int height, const std::string& picture) {
  return chunk("ANMF", little(left / 2, 3) + little(top / 2, 3) + little(width - 1, 3) +
                           little(height - 1, 3) + little(100, 3) + raw("\0") + picture);
}

std::string refusal(const std::string& file) {
  try {
    read_webp_header(bytes_of(file), "photo.webp");
    first_webp_frame(bytes_of(file), "photo.webp");
  } catch (const InputError& error) {
    return error.message();
  }
  return "";
}

TEST(WebpHeader, ReadsSizesOfAllKinds) {
  const auto size = [](const std::string& chunks) {
    return read_webp_header(bytes_of(riff(chunks)), "photo.webp").stored;
  };
  EXPECT_EQ(size(lossy(300, 200)), (Size{300, 200}));
  EXPECT_EQ(size(lossless(16384, 3)), (Size{16384, 3}));
  EXPECT_EQ(size(canvas(70, 50) + lossless(70, 50)), (Size{70, 50}));
  EXPECT_EQ(size(canvas(70, 50) + animation(0, 0, 9, 9, lossy(9, 9))), (Size{70, 50}));
}

TEST(WebpHeader, FindsTheOrientationWithJpegsPrefixAndWithout) {
  const std::string exif = raw("II*\0") + little(8, 4) + little(1, 2) + little(0x0112, 2) +
                           little(3, 2) + little(1, 4) + little(6, 4) + little(0, 4);
  const auto found = [](const std::string& more) {
    const std::string file = riff(canvas(7, 5) + lossy(7, 5) + more);
    return read_webp_header(bytes_of(file), "photo.webp").orientation;
  };
  EXPECT_EQ(found(""), 1);
  EXPECT_EQ(found(chunk("EXIF", exif)), 6);
  EXPECT_EQ(found(chunk("EXIF", raw("Exif\0\0") + exif)), 6);
  EXPECT_EQ(found(chunk("XMP ", "tiff:Orientation=\"8\"")), 8);
}

TEST(WebpHeader, RefusesEveryCut) {
  const std::string whole = riff(canvas(70, 50) + lossless(70, 50) + chunk("EXIF", "exif"));
  for (std::size_t length = 12; length < whole.size(); ++length)
    EXPECT_THAT(refusal(whole.substr(0, length)), HasSubstr("cut short")) << length;
  EXPECT_EQ(refusal(whole), "");
}

TEST(WebpHeader, RefusesWhatContradictsItself) {
  EXPECT_THAT(refusal(riff(canvas(70, 50))), HasSubstr("holds no picture"));
  EXPECT_THAT(refusal(riff(canvas(70, 50) + lossy(71, 50))), HasSubstr("differ in size"));
  EXPECT_THAT(refusal(riff(lossy(7, 5) + canvas(7, 5))), HasSubstr("misplaced"));
  EXPECT_THAT(refusal(riff(lossy(0, 5))), HasSubstr("no pixels"));
  EXPECT_THAT(refusal(riff(chunk("VP8 ", "no key frame"))), HasSubstr("key frame"));
  EXPECT_THAT(refusal(riff(chunk("VP8L", "no signature"))), HasSubstr("signature"));
}

TEST(WebpHeader, CutsOutTheFirstFrame) {
  const std::string file = riff(canvas(70, 50) + animation(4, 6, 9, 8, lossless(9, 8)) +
                                animation(0, 0, 70, 50, lossless(70, 50)));
  const auto frame = first_webp_frame(bytes_of(file), "photo.webp");
  ASSERT_TRUE(frame);
  EXPECT_EQ(frame->left, 4);
  EXPECT_EQ(frame->top, 6);
  EXPECT_EQ(frame->size, (Size{9, 8}));
  EXPECT_EQ(std::string(reinterpret_cast<const char*>(frame->file.data()), frame->file.size()),
            riff(lossless(9, 8)));
  EXPECT_FALSE(first_webp_frame(bytes_of(riff(lossy(9, 8))), "photo.webp"));
}

TEST(WebpHeader, RefusesAFrameThatDoesNotFit) {
  EXPECT_THAT(refusal(riff(canvas(70, 50) + animation(64, 0, 9, 8, lossless(9, 8)))),
              HasSubstr("sticks out"));
  EXPECT_THAT(refusal(riff(canvas(70, 50) + animation(0, 0, 9, 8, lossless(9, 9)))),
              HasSubstr("differ in size"));
  EXPECT_THAT(refusal(riff(canvas(70, 50) + animation(0, 0, 9, 8, chunk("ALPH", "alpha")))),
              HasSubstr("holds no picture"));
  EXPECT_THAT(refusal(riff(canvas(70, 50) + chunk("ANMF", "short"))), HasSubstr("too short"));
}

}  // namespace
}  // namespace vitascope::image
