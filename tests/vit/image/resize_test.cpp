#include "vit/image/resize.h"

#include <gtest/gtest.h>
#include <zlib.h>

#include <algorithm>
#include <cstdlib>
#include <string>

#include "tests/golden.h"
#include "tests/vit/image/noise.h"
#include "vit/error.h"
#include "vit/json.h"

namespace vitascope::image {
namespace {

using tests::noise;

Size size_of(const Json& value) { return {value.at(0).get<int>(), value.at(1).get<int>()}; }

/// Both instruction sets must give Pillow's bits, on every processor that has them.
class ResizeOn : public ::testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    if (std::string(GetParam()) == "baseline") setenv("VITASCOPE_CPU_ISA", "baseline", 1);
    if (std::string(resize_isa()) != GetParam()) GTEST_SKIP() << "no " << GetParam() << " here";
  }
  void TearDown() override { unsetenv("VITASCOPE_CPU_ISA"); }
};

INSTANTIATE_TEST_SUITE_P(Isa, ResizeOn, ::testing::Values("baseline", "avx2"));

TEST_P(ResizeOn, GivesPillowsBytes) {
  const Json cases = read_json(tests::golden("resized.json"));
  EXPECT_GT(cases.size(), 100u);
  for (const Json& entry : cases) {
    const Size size = size_of(entry.at("size"));
    const auto filter = static_cast<Filter>(entry.at("code").get<int>());
    EXPECT_EQ(filter_name(filter), entry.at("filter").get<std::string>());
    const auto rgb = noise(size);
    const auto out = resize(rgb.data(), size, size_of(entry.at("target")), filter);
    EXPECT_EQ(crc32_z(0, out.data(), out.size()), entry.at("crc32").get<std::uint32_t>()) << entry;
  }
}

TEST_P(ResizeOn, GivesTheSameBytesForAPart) {
  const Size size{97, 61};
  const auto rgb = noise(size);
  for (const Size target : {Size{40, 30}, Size{97, 30}, Size{40, 61}, Size{97, 61}, Size{150, 99}})
    for (int code = 0; code < 6; ++code) {
      const auto filter = static_cast<Filter>(code);
      const auto whole = resize(rgb.data(), size, target, filter);
      for (const Region region : {Region{0, 0, {1, 1}}, Region{3, 5, {36, 22}},
                                  Region{target.width - 2, target.height - 3, {2, 3}},
                                  Region{0, target.height - 1, {target.width, 1}}}) {
        const auto part = resize_region(rgb.data(), size, target, filter, region);
        ASSERT_EQ(part.size(),
                  static_cast<std::size_t>(region.size.width) * region.size.height * 3);
        const std::size_t row = static_cast<std::size_t>(region.size.width) * 3;
        for (int y = 0; y < region.size.height; ++y)
          EXPECT_TRUE(std::equal(
              part.begin() + y * row, part.begin() + (y + 1) * row,
              whole.begin() +
                  ((region.top + y) * static_cast<std::size_t>(target.width) + region.left) * 3))
              << filter_name(filter) << " row " << y << " of " << target.width << " x "
              << target.height;
      }
    }
}

TEST(Resize, RefusesImpossibleSizes) {
  const std::vector<std::uint8_t> rgb(12);
  EXPECT_THROW(resize(rgb.data(), {0, 2}, {2, 2}, Filter::box), InternalError);
  EXPECT_THROW(resize(rgb.data(), {2, 2}, {2, -1}, Filter::box), InternalError);
  EXPECT_THROW(resize_region(rgb.data(), {2, 2}, {4, 4}, Filter::box, {2, 0, {3, 1}}),
               InternalError);
}

}  // namespace
}  // namespace vitascope::image
