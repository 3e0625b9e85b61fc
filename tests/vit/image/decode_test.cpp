#include "vit/image/decode.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <zlib.h>

#include <algorithm>
#include <cstdlib>
#include <span>

#include "tests/golden.h"
#include "vit/error.h"
#include "vit/file.h"
#include "vit/json.h"

namespace vitascope::image {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

std::uint32_t checksum(const Picture& picture) {
  return static_cast<std::uint32_t>(crc32_z(0, picture.rgb.data(), picture.rgb.size()));
}

Size size_of(const Json& value) { return {value.at(0).get<int>(), value.at(1).get<int>()}; }

std::string refusal_of_file(const std::string& path, const DecodeOptions& options = {}) {
  try {
    decode(path, options);
  } catch (const InputError& error) {
    return error.what();
  }
  return "";
}

TEST(Decode, GivesPillowsBytesForTheGoldenImages) {
  const Json manifest = read_json(tests::golden("images/manifest.json"));
  int decoded = 0;
  for (const Json& entry : manifest.at("files")) {
    const std::string name = entry.at("file");
    if (entry.at("expect") != "ok") continue;
    SCOPED_TRACE(name);
    const Picture picture = decode(tests::golden("images/" + name));
    EXPECT_EQ(picture.size, size_of(entry.at("size")));
    EXPECT_EQ(picture.stored, size_of(entry.at("stored_size")));
    EXPECT_EQ(picture.orientation, entry.at("orientation").get<int>());
    EXPECT_EQ(checksum(picture), entry.at("crc32_rgb").get<std::uint32_t>());
    EXPECT_EQ(picture.warning, "");
    ++decoded;
  }
  EXPECT_GT(decoded, 30);
}

TEST(Decode, GivesPillowsBytesForEveryWayIntoTheDecoders) {
  const Json expected = read_json(tests::golden("pictures/expected.json"));
  for (const Json& entry : expected.at("files")) {
    if (!entry.contains("crc32_rgb")) continue;
    const std::string name = entry.at("file");
    SCOPED_TRACE(name + ": " + entry.at("what").get<std::string>());
    Picture picture;
    ASSERT_NO_THROW(picture = decode(tests::golden("pictures/" + name)));
    EXPECT_EQ(picture.size, size_of(entry.at("size")));
    EXPECT_EQ(checksum(picture), entry.at("crc32_rgb").get<std::uint32_t>());
  }
}

/// Decoders of HEIF and AVIF round their colour conversion differently, but no further apart.
TEST(Decode, StaysWithinTheToleranceWhereDecodersDiffer) {
  const Json expected = read_json(tests::golden("pictures/expected.json"));
  const std::string bytes = read_file(tests::golden("pictures/expected.bin"), 1 << 20);
  for (const Json& entry : expected.at("files")) {
    if (!entry.contains("tolerance_levels")) continue;
    const std::string name = entry.at("file");
    SCOPED_TRACE(name + ": " + entry.at("what").get<std::string>());
    Picture picture;
    ASSERT_NO_THROW(picture = decode(tests::golden("pictures/" + name)));
    ASSERT_EQ(picture.size, size_of(entry.at("size")));
    const std::size_t offset = entry.at("rgb_offset");
    ASSERT_LE(offset + picture.rgb.size(), bytes.size());
    int largest = 0;
    for (std::size_t i = 0; i < picture.rgb.size(); ++i)
      largest = std::max(largest,
                         std::abs(picture.rgb[i] - static_cast<std::uint8_t>(bytes[offset + i])));
    EXPECT_LE(largest, entry.at("tolerance_levels").get<int>());
  }
}

TEST(Decode, RefusesEveryBadGoldenImageByName) {
  const Json manifest = read_json(tests::golden("images/manifest.json"));
  int refused = 0;
  for (const Json& entry : manifest.at("files")) {
    if (entry.at("expect") != "error") continue;
    const std::string path = tests::golden("images/" + entry.at("file").get<std::string>());
    EXPECT_THAT(refusal_of_file(path), StartsWith(path)) << entry.at("what");
    ++refused;
  }
  EXPECT_EQ(refused, 7);
}

TEST(Decode, SaysWhatIsWrong) {
  const auto bad = [](const char* name) {
    return refusal_of_file(tests::golden("images/bad/") + name);
  };
  EXPECT_THAT(bad("text.jpg"), HasSubstr("is not an image (it starts with 'This is a te...')"));
  EXPECT_THAT(bad("empty.jpg"), HasSubstr("is empty (0 bytes)"));
  EXPECT_THAT(bad("huge_header.png"), HasSubstr("60000 x 60000 pixels (3600.0 megapixels)"));
  EXPECT_THAT(bad("truncated.jpg"), HasSubstr("--allow-truncated"));
  EXPECT_THAT(bad("truncated.png"), HasSubstr("the PNG is cut short"));
}

TEST(Decode, TakesATruncatedJpegWhenAllowed) {
  const Picture picture =
      decode(tests::golden("images/bad/truncated.jpg"), {.allow_truncated = true});
  EXPECT_EQ(picture.size, (Size{80, 60}));
  EXPECT_THAT(picture.warning, HasSubstr("Premature end"));
}

TEST(Decode, ChecksThePixelLimitBeforeDecoding) {
  const std::string photo = tests::golden("images/rgb_plain.jpg");  // 200 x 150: 0.03 megapixels
  EXPECT_EQ(refusal_of_file(photo, {.max_megapixels = 0.03}), "");
  EXPECT_THAT(refusal_of_file(photo, {.max_megapixels = 0.0299}), HasSubstr("--max-pixels"));
  EXPECT_THAT(refusal_of_file(tests::golden("pictures/photo.avif"), {.max_megapixels = 0.001}),
              HasSubstr("64 x 48 pixels"));
}

/// However much of the file is missing, no decoder may make up the rest.
TEST(Decode, RefusesEveryFormatWhenItIsCutShort) {
  for (const char* name : {"exif_6.png",
                           "interlaced.png",
                           "rgba16.png",
                           "subsampling_422.jpg",
                           "progressive_gray.jpg",
                           "cmyk_plain.jpg",
                           "exif_5.webp",
                           "alpha_lossless.webp",
                           "animated_offset.webp",
                           "orientation_3.tif",
                           "deflate.tif",
                           "bilevel_g4.tif",
                           "jpeg.tif",
                           "palette8.bmp",
                           "rle8.bmp",
                           "rgb32.bmp",
                           "interlaced.gif",
                           "offset_transparent.gif",
                           "photo.heic",
                           "photo.avif"}) {
    const std::string path = tests::golden("pictures/") + name;
    const std::string whole = read_file(path, 1 << 20);
    for (const double part : {0.0, 0.02, 0.1, 0.3, 0.5, 0.7, 0.9, 0.99}) {
      const auto length = static_cast<std::size_t>(part * static_cast<double>(whole.size()));
      EXPECT_THROW(decode_bytes(std::as_bytes(std::span(whole.data(), length)), path), InputError)
          << name << " with " << length << " of " << whole.size() << " bytes";
    }
  }
}

/// A flipped bit may give another picture, but only a picture or an InputError.
TEST(Decode, SurvivesFlippedBits) {
  const Json expected = read_json(tests::golden("pictures/expected.json"));
  for (const Json& entry : expected.at("files")) {
    const std::string path = tests::golden("pictures/" + entry.at("file").get<std::string>());
    std::string bytes = read_file(path, 1 << 20);
    for (std::size_t at = 0; at < bytes.size(); at += 1 + at / 8) {
      const char original = bytes[at];
      bytes[at] = static_cast<char>(original ^ (1 << at % 8));
      try {
        decode_bytes(std::as_bytes(std::span(bytes)), path, {.max_megapixels = 1});
      } catch (const InputError&) {
      }
      bytes[at] = original;
    }
  }
}

TEST(Decode, NeverTrustsTheExtension) {
  const std::string png = read_file(tests::golden("images/rgb.png"), 1 << 20);
  const Picture picture = decode_bytes(std::as_bytes(std::span(png)), "photo.jpg");
  EXPECT_EQ(checksum(picture), 2469635989u);  // as the manifest has it for rgb.png
  EXPECT_EQ(picture.path, "photo.jpg");
}

TEST(Decode, RefusesAPngWhoseChecksumIsWrong) {
  std::string png = read_file(tests::golden("images/rgb.png"), 1 << 20);
  png[png.find("IDAT") + 30] ^= 1;
  try {
    decode_bytes(std::as_bytes(std::span(png)), "photo.png");
    FAIL() << "decoded";
  } catch (const InputError& error) {
    EXPECT_THAT(error.message(), HasSubstr("checksum of its IDAT chunk"));
  }
}

}  // namespace
}  // namespace vitascope::image
