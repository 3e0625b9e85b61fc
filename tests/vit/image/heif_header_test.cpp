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

std::string box(const std::string& type, const std::string& body) {
  return big(8 + body.size(), 4) + type + body;
}

const std::string kBrands = box("ftyp", raw("heic\0\0\0\0mif1"));

std::string refusal(const std::string& file) {
  try {
    read_heif_header(bytes_of(file), "photo.heic");
  } catch (const InputError& error) {
    return error.message();
  }
  return "";
}

TEST(HeifHeader, WalksTheOuterBoxes) {
  EXPECT_EQ(refusal(kBrands + box("meta", "items") + box("mdat", "pixels")), "");
  // A size of 1 is followed by 64 bits, a size of 0 reaches to the end.
  EXPECT_EQ(refusal(kBrands + big(1, 4) + "mdat" + big(22, 8) + "pixels" + box("meta", "")), "");
  EXPECT_EQ(refusal(kBrands + box("meta", "") + big(0, 4) + "mdat" + "pixels"), "");
}

TEST(HeifHeader, RefusesEveryCutInsideABox) {
  const std::string whole = kBrands + box("meta", "items") + box("mdat", "pixels");
  const std::size_t data = whole.size() - box("mdat", "pixels").size();
  for (std::size_t length = 1; length < whole.size(); ++length) {
    if (length == kBrands.size() || length == data) continue;  // between two boxes
    EXPECT_THAT(refusal(whole.substr(0, length)), HasSubstr("cut short")) << length;
  }
}

TEST(HeifHeader, RefusesWhatContradictsItself) {
  EXPECT_THAT(refusal(kBrands + box("mdat", "pixels")), HasSubstr("no 'meta' box"));
  EXPECT_THAT(refusal(kBrands + big(7, 4) + "meta"), HasSubstr("shorter than its own header"));
  EXPECT_THAT(refusal(kBrands + big(1, 4) + "mdat" + big(~0ull, 8)), HasSubstr("cut short"));
}

}  // namespace
}  // namespace vitascope::image
