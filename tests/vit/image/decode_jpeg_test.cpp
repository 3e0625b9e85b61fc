#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/golden.h"
#include "tests/vit/image/bytes_builder.h"
#include "vit/error.h"
#include "vit/image/decode.h"

namespace vitascope::image {
namespace {

using ::testing::HasSubstr;
using tests::bytes_of;

std::string picture(const char* name) { return read_file(tests::golden(name), 1 << 20); }

std::string refusal(const std::string& file, const DecodeOptions& options = {}) {
  try {
    decode_bytes(bytes_of(file), "photo.jpg", options);
  } catch (const InputError& error) {
    return error.message();
  }
  return "";
}

const DecodeOptions kLenient{.allow_truncated = true};

TEST(DecodeJpeg, RefusesStrayBytesThatMayHideDamageUnlessAllowed) {
  std::string file = picture("pictures/subsampling_422.jpg");
  file.insert(file.size() - 2, "more stray bytes than the decoder reads ahead");
  EXPECT_THAT(refusal(file), HasSubstr("extraneous bytes before marker 0xd9"));
  const Picture lenient = decode_bytes(bytes_of(file), "photo.jpg", kLenient);
  EXPECT_THAT(lenient.warning, HasSubstr("extraneous bytes"));
  // The picture itself was whole.
  EXPECT_EQ(lenient.rgb, decode(tests::golden("pictures/subsampling_422.jpg")).rgb);
}

TEST(DecodeJpeg, TakesAnOddJfifVersion) {
  std::string file = picture("images/rgb_plain.jpg");
  const std::size_t at = file.find("JFIF");
  ASSERT_NE(at, std::string::npos);
  file[at + 5] = 9;
  EXPECT_EQ(refusal(file), "");
}

TEST(DecodeJpeg, IgnoresWhatFollowsThePicture) {
  EXPECT_EQ(refusal(picture("pictures/restart.jpg") + "a thumbnail or a video"), "");
}

TEST(DecodeJpeg, KeepsTheUpperPartOfACutPhoto) {
  const std::string whole = picture("images/rgb_plain.jpg");
  const std::string cut = whole.substr(0, whole.size() / 2);
  const Picture full = decode_bytes(bytes_of(whole), "photo.jpg");
  const Picture part = decode_bytes(bytes_of(cut), "photo.jpg", kLenient);
  ASSERT_EQ(part.size, full.size);
  const std::size_t quarter = full.rgb.size() / 4;
  EXPECT_TRUE(std::equal(full.rgb.begin(), full.rgb.begin() + quarter, part.rgb.begin()));
  EXPECT_FALSE(std::equal(full.rgb.end() - quarter, full.rgb.end(), part.rgb.end() - quarter));
}

TEST(DecodeJpeg, CutsAProgressivePhoto) {
  const std::string whole = picture("images/progressive.jpg");
  const std::string cut = whole.substr(0, whole.size() * 2 / 3);
  EXPECT_THAT(refusal(cut), HasSubstr("damaged JPEG: "));
  EXPECT_EQ(decode_bytes(bytes_of(cut), "photo.jpg", kLenient).size, (Size{95, 116}));
}

/// Each scan costs a pass over the whole picture, and takes a few bytes of the file.
TEST(DecodeJpeg, BoundsTheNumberOfScans) {
  const std::string whole = picture("images/progressive.jpg");
  const std::size_t scan = whole.rfind("\xff\xda");
  std::string file = whole.substr(0, whole.size() - 2);
  for (int i = 0; i < 600; ++i) file += whole.substr(scan, whole.size() - 2 - scan);
  EXPECT_THAT(refusal(file + "\xff\xd9", kLenient), HasSubstr("more than 500 scans"));
}

TEST(DecodeJpeg, RefusesKindsThatTheLibraryCannot) {
  std::string file = picture("images/rgb_plain.jpg");
  file[file.find("\xff\xc0") + 1] = '\xc3';  // lossless
  EXPECT_THAT(refusal(file), HasSubstr("Unsupported JPEG process"));
}

}  // namespace
}  // namespace vitascope::image
