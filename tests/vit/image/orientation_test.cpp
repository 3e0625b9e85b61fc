#include "vit/image/orientation.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "tests/vit/image/noise.h"

namespace vitascope::image {
namespace {

using ::testing::ElementsAre;

/// The red channel: 1 2 3 over 4 5 6, turned.
std::vector<int> turned(int orientation) {
  Picture picture;
  picture.size = {3, 2};
  for (int i = 1; i <= 6; ++i)
    picture.rgb.insert(picture.rgb.end(), {static_cast<std::uint8_t>(i), 0, 0});
  apply_orientation(picture, orientation);
  EXPECT_EQ(picture.stored, (Size{3, 2}));
  EXPECT_EQ(picture.size, orientation >= 5 ? (Size{2, 3}) : (Size{3, 2}));
  EXPECT_EQ(picture.orientation, orientation);
  std::vector<int> red;
  for (std::size_t i = 0; i < picture.rgb.size(); i += 3) red.push_back(picture.rgb[i]);
  return red;
}

TEST(Orientation, UndoesEachOfTheEight) {
  EXPECT_THAT(turned(1), ElementsAre(1, 2, 3, 4, 5, 6));
  EXPECT_THAT(turned(2), ElementsAre(3, 2, 1, 6, 5, 4));
  EXPECT_THAT(turned(3), ElementsAre(6, 5, 4, 3, 2, 1));
  EXPECT_THAT(turned(4), ElementsAre(4, 5, 6, 1, 2, 3));
  EXPECT_THAT(turned(5), ElementsAre(1, 4, 2, 5, 3, 6));
  EXPECT_THAT(turned(6), ElementsAre(4, 1, 5, 2, 6, 3));
  EXPECT_THAT(turned(7), ElementsAre(6, 3, 5, 2, 4, 1));
  EXPECT_THAT(turned(8), ElementsAre(3, 6, 2, 5, 1, 4));
}

/// Sizes beyond one tile, and the map of coordinates, which must agree with the pixels.
TEST(Orientation, MapsEveryPixelToWhereItCameFrom) {
  const Size stored{75, 41};
  const std::vector<std::uint8_t> original = tests::noise(stored);
  for (int orientation = 1; orientation <= 8; ++orientation) {
    Picture picture = tests::noise_picture(stored);
    apply_orientation(picture, orientation);
    for (int y = 0; y < picture.size.height; ++y)
      for (int x = 0; x < picture.size.width; ++x) {
        double from_x = 0;
        double from_y = 0;
        upright_to_stored(orientation, stored, x + 0.5, y + 0.5, from_x, from_y);  // its centre
        const auto at = (static_cast<std::size_t>(std::floor(from_y)) * stored.width +
                         static_cast<std::size_t>(std::floor(from_x))) *
                        3;
        ASSERT_LT(at, original.size());
        const std::size_t here = (static_cast<std::size_t>(y) * picture.size.width + x) * 3;
        for (std::size_t c = 0; c < 3; ++c)
          ASSERT_EQ(picture.rgb[here + c], original[at + c])
              << orientation << " at " << x << ", " << y;
      }
  }
}

}  // namespace
}  // namespace vitascope::image
