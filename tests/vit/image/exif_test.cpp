#include <gtest/gtest.h>

#include "tests/vit/image/bytes_builder.h"
#include "vit/image/format_headers.h"

namespace vitascope::image {
namespace {

using tests::big;
using tests::bytes_of;
using tests::little;
using tests::raw;

/// An EXIF block, little-endian, with a maker tag before the orientation.
std::string exif(int type, int value) {
  return raw("II*\0") + little(8, 4) + little(2, 2) +                       //
         little(0x010F, 2) + little(2, 2) + little(3, 4) + raw("Me\0\0") +  //
         little(0x0112, 2) + little(type, 2) + little(1, 4) + little(value, 4) + little(0, 4);
}

TEST(Exif, ReadsOrientationInBothByteOrders) {
  for (int orientation = 1; orientation <= 8; ++orientation) {
    EXPECT_EQ(exif_orientation(bytes_of(exif(3, orientation))), orientation);
    const std::string turned = raw("MM\0*") + big(8, 4) + big(1, 2) + big(0x0112, 2) + big(3, 2) +
                               big(1, 4) + big(orientation, 2) + big(0, 2) + big(0, 4);
    EXPECT_EQ(exif_orientation(bytes_of(turned)), orientation);
  }
}

TEST(Exif, TakesOtherWholeNumbersThanShort) {
  EXPECT_EQ(exif_orientation(bytes_of(exif(4, 6))), 6);  // LONG
  EXPECT_EQ(exif_orientation(bytes_of(exif(1, 6))), 6);  // BYTE
}

TEST(Exif, IsUprightWhenItSaysNothingUsable) {
  EXPECT_EQ(exif_orientation({}), 1);
  EXPECT_EQ(exif_orientation(bytes_of("II")), 1);
  EXPECT_EQ(exif_orientation(bytes_of(exif(3, 0))), 1);
  EXPECT_EQ(exif_orientation(bytes_of(exif(3, 9))), 1);
  EXPECT_EQ(exif_orientation(bytes_of(exif(5, 6))), 1);  // RATIONAL
  EXPECT_EQ(exif_orientation(bytes_of("not an EXIF block at all")), 1);
}

TEST(Exif, NeverReadsBeyondItsEnd) {
  const std::string whole = exif(3, 6);
  for (std::size_t length = 0; length + 4 < whole.size(); ++length) {
    const std::string cut = whole.substr(0, length);  // so that a sanitizer sees the end
    EXPECT_EQ(exif_orientation(bytes_of(cut)), 1) << length;
  }
  EXPECT_EQ(exif_orientation(bytes_of(raw("II*\0") + little(0xFFFFFFFF, 4) + "more")), 1);
  EXPECT_EQ(exif_orientation(bytes_of(raw("II*\0") + little(8, 4) + little(65535, 2))), 1);
}

TEST(Xmp, SpeaksOnlyWhereExifIsSilent) {
  const std::string attribute = R"(<rdf:Description tiff:Orientation="8"/>)";
  const std::string element = "<tiff:Orientation>5</tiff:Orientation>";
  EXPECT_EQ(orientation({}, bytes_of(attribute)), 8);
  EXPECT_EQ(orientation({}, bytes_of(element)), 5);
  EXPECT_EQ(orientation(bytes_of(exif(3, 3)), bytes_of(attribute)), 3);
  // A tag that is there but means nothing is still EXIF's word.
  EXPECT_EQ(orientation(bytes_of(exif(3, 0)), bytes_of(attribute)), 1);
  EXPECT_EQ(orientation({}, bytes_of("tiff:OrientationX=\"3\" tiff:Orientation=\"")), 1);
  EXPECT_EQ(orientation({}, bytes_of("tiff:Orientation=\"x\" tiff:Orientation=\"6\"")), 6);
  EXPECT_EQ(orientation({}, bytes_of("tiff:Orientation=\"9\"")), 1);
}

}  // namespace
}  // namespace vitascope::image
