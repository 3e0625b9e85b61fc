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

TEST(DecodeHeif, IsTurnedByTheDecoder) {
  const Picture upright = decode(tests::golden("pictures/photo.heic"));
  const Picture turned = decode(tests::golden("pictures/turned.heic"));
  EXPECT_EQ(upright.size, (Size{64, 48}));
  EXPECT_EQ(turned.size, (Size{48, 64}));
  EXPECT_EQ(turned.orientation, 1);
  EXPECT_EQ(turned.stored, turned.size);
}

TEST(DecodeHeif, SaysThatItIsDamaged) {
  std::string file = read_file(tests::golden("pictures/photo.heic"), 1 << 20);
  file.replace(file.find("pitm") + 8, 2, "\x7f\x7f");  // a primary item that isn't there
  try {
    decode_bytes(bytes_of(file), "photo.heic");
    FAIL() << "decoded";
  } catch (const InputError& error) {
    EXPECT_THAT(error.message(), HasSubstr("HEIF"));
  }
}

}  // namespace
}  // namespace vitascope::image
