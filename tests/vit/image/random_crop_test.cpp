#include "vit/image/random_crop.h"

#include <gtest/gtest.h>

#include <cmath>

#include "tests/vit/image/augment_golden.h"

namespace vitascope::image {
namespace {

TEST(CropResized, GivesTheBytesOfTorchvision) {
  for (const Json& entry : tests::augmented("crops")) {
    const auto part = entry.at("part").get<std::array<int, 4>>();
    const Filter filter = entry.at("filter") == "bicubic" ? Filter::bicubic : Filter::bilinear;
    const Picture out =
        crop_resized(tests::picture_of(entry), {part[0], part[1], {part[2], part[3]}},
                     tests::size_of(entry.at("target")), filter);
    EXPECT_EQ(tests::crc_of(out), entry.at("crc32").get<std::uint32_t>()) << entry;
  }
}

TEST(RandomCrop, StaysInsideWithTheAreaAndAspectAsked) {
  const Size size{300, 200};
  double least = 1;
  double most = 0;
  for (std::uint64_t sample = 0; sample < 3000; ++sample) {
    RandomStream random = RandomStream::of(1, 0, sample);
    const Region part = random_crop(size, {0.2, 0.9, 0.5, 2}, random);
    EXPECT_GE(part.left, 0);
    EXPECT_GE(part.top, 0);
    EXPECT_LE(part.left + part.size.width, size.width);
    EXPECT_LE(part.top + part.size.height, size.height);
    const double area = double(part.size.width) * part.size.height / (300.0 * 200);
    const double aspect = double(part.size.width) / part.size.height;
    least = std::min(least, area);
    most = std::max(most, area);
    EXPECT_GE(aspect, 0.49);
    EXPECT_LE(aspect, 2.03);
  }
  EXPECT_NEAR(least, 0.2, 0.01);
  EXPECT_NEAR(most, 0.9, 0.02);
}

/// torchvision's answers where no attempt can fit: the largest centred part.
TEST(RandomCrop, OfAStripIsTheCentre) {
  RandomStream random(1);
  const Region wide = random_crop({1000, 10}, {1, 1, 3.0 / 4, 4.0 / 3}, random);
  EXPECT_EQ(wide.size, (Size{13, 10}));
  EXPECT_EQ(wide.left, 493);
  EXPECT_EQ(wide.top, 0);
  const Region tall = random_crop({10, 1000}, {1, 1, 3.0 / 4, 4.0 / 3}, random);
  EXPECT_EQ(tall.size, (Size{10, 13}));
  EXPECT_EQ(tall.top, 493);
}

TEST(ScaledPart, KeepsItsPlaceAndStaysInside) {
  const Region part = scaled_part({100, 40, {60, 50}}, {200, 100}, {100, 50});
  EXPECT_EQ(part.left, 50);
  EXPECT_EQ(part.top, 20);
  EXPECT_EQ(part.size, (Size{30, 25}));
  const Region corner = scaled_part({199, 99, {1, 1}}, {200, 100}, {25, 13});
  EXPECT_EQ(corner.left, 24);
  EXPECT_EQ(corner.size, (Size{1, 1}));
}

}  // namespace
}  // namespace vitascope::image
