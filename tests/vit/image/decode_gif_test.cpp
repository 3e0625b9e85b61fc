#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/golden.h"
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

TEST(DecodeGif, FillsTheScreenAroundTheFrame) {
  // A screen of 3 x 1 with one pixel of colour 2 (green) in its middle; colour 1 (red) is
  // transparent. LZW with codes of three bits: clear, 2, end.
  const std::string screen = "GIF89a" + little(3, 2) + little(1, 2) + raw("\x81\0\0") +
                             raw("\0\0\0\xff\0\0\0\xff\0\0\0\xff");
  const std::string transparent = raw("!\xf9\4\1\0\0\1\0");
  const std::string frame =
      "," + little(1, 2) + little(0, 2) + little(1, 2) + little(1, 2) + raw("\0\2\2\x54\1\0;");
  EXPECT_THAT(decode_bytes(bytes_of(screen + transparent + frame), "p").rgb,
              ElementsAre(255, 0, 0, 0, 255, 0, 255, 0, 0));
  EXPECT_THAT(decode_bytes(bytes_of(screen + frame), "p").rgb,
              ElementsAre(0, 0, 0, 0, 255, 0, 0, 0, 0));
}

TEST(DecodeGif, RefusesBrokenCodes) {
  std::string file = read_file(tests::golden("pictures/interlaced.gif"), 1 << 20);
  const std::size_t frame = file.find(raw(",\0\0\0\0"));
  for (std::size_t at = frame + 12; at < file.size() - 2; ++at) file[at] = '\xff';
  try {
    decode_bytes(bytes_of(file), "photo.gif");
    FAIL() << "decoded";
  } catch (const InputError& error) {
    EXPECT_EQ(error.path(), "photo.gif");
  }
}

}  // namespace
}  // namespace vitascope::image
