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

/// OpenCV prints what it catches; the one line of our error is all that a person should see.
TEST(DecodeOpenCv, RefusesDamageWithoutAWordOnStderr) {
  std::string file = read_file(tests::golden("pictures/bilevel_g4.tif"), 1 << 20);
  for (std::size_t at = 8; at < 60; ++at) file[at] = '\0';  // the compressed pixels
  testing::internal::CaptureStderr();
  try {
    decode_bytes(bytes_of(file), "photo.tif");
  } catch (const InputError& error) {
    EXPECT_THAT(error.message(), HasSubstr("TIFF"));
  }
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "");
}

TEST(DecodeOpenCv, RefusesAWebpWhoseDataLies) {
  std::string file = read_file(tests::golden("images/lossy.webp"), 1 << 20);
  file[21] = file[22] = '\xff';  // its first partition would be longer than the file
  testing::internal::CaptureStderr();
  std::string message;
  try {
    decode_bytes(bytes_of(file), "photo.webp");
  } catch (const InputError& error) {
    message = error.message();
  }
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "");
  EXPECT_THAT(message, HasSubstr("WebP"));
}

}  // namespace
}  // namespace vitascope::image
