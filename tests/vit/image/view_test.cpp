#include "vit/image/view.h"

#include <gtest/gtest.h>

#include <cmath>

#include "tests/vit/image/noise.h"
#include "vit/image/orientation.h"
#include "vit/image/preprocess.h"

namespace vitascope::image {
namespace {

void expect_near(const Rectangle& got, const Rectangle& expected) {
  EXPECT_NEAR(got.left, expected.left, 1e-9);
  EXPECT_NEAR(got.top, expected.top, 1e-9);
  EXPECT_NEAR(got.right, expected.right, 1e-9);
  EXPECT_NEAR(got.bottom, expected.bottom, 1e-9);
}

Specification squash(Size size) {
  Specification specification;
  specification.size = size;
  return specification;
}

View view_of(const Specification& specification, Size picture) {
  return View(geometry(specification, picture), picture, picture, 1);
}

TEST(View, StretchesASquash) {
  const View view = view_of(squash({32, 32}), {320, 160});
  expect_near(view.cell(0, 0, 4, 4), {0, 0, 80, 40});
  expect_near(view.cell(3, 1, 4, 4), {80, 120, 160, 160});
  expect_near(view.seen(), {0, 0, 320, 160});
}

TEST(View, KnowsTheCrop) {
  Specification specification;
  specification.resize = ResizeMode::shortest_edge;
  specification.edge = 40;
  specification.crop = Size{32, 32};
  // 320 x 160 becomes 80 x 40: the crop begins 24 and 4 pixels in, 4 of the photo's pixels each.
  const View view = view_of(specification, {320, 160});
  expect_near(view.seen(), {96, 16, 224, 144});
  expect_near(view.cell(1, 3, 4, 4), {192, 48, 224, 80});
}

TEST(View, SticksOutWhereTheCropWasPadded) {
  Specification specification;
  specification.resize = ResizeMode::none;
  specification.crop = Size{32, 32};
  const View view = view_of(specification, {16, 40});
  expect_near(view.cell(0, 0, 2, 2), {-8, 4, 8, 20});
  expect_near(view.seen(), {0, 4, 16, 36});
}

TEST(View, FindsTheCellOfEveryPixelThatItsRectangleHolds) {
  Specification specification;
  specification.resize = ResizeMode::shortest_edge;
  specification.edge = 37;
  specification.crop = Size{32, 32};
  const Size picture{113, 71};
  const View view = view_of(specification, picture);
  int seen = 0;
  for (int y = 0; y < picture.height; ++y)
    for (int x = 0; x < picture.width; ++x) {
      int row = -1;
      int column = -1;
      const Rectangle all = view.seen();
      const bool inside =
          x + 0.5 >= all.left && x + 0.5 < all.right && y + 0.5 >= all.top && y + 0.5 < all.bottom;
      ASSERT_EQ(view.find_cell(x + 0.5, y + 0.5, 4, 8, row, column), inside) << x << ", " << y;
      if (!inside) continue;
      ++seen;
      const Rectangle cell = view.cell(row, column, 4, 8);
      EXPECT_LE(cell.left - 1e-9, x + 0.5);
      EXPECT_GE(cell.right + 1e-9, x + 0.5);
      EXPECT_LE(cell.top - 1e-9, y + 0.5);
      EXPECT_GE(cell.bottom + 1e-9, y + 0.5);
    }
  EXPECT_GT(seen, 3000);
  int row = 0;
  int column = 0;
  EXPECT_FALSE(view.find_cell(-0.1, 5, 4, 8, row, column));
  EXPECT_FALSE(view.find_cell(113, 5, 4, 8, row, column));
  EXPECT_FALSE(view.find_cell(NAN, 5, 4, 8, row, column));
}

/// A white cell's worth of pixels in the stored picture must light up that very cell of what the
/// network sees, however the photo is turned.
TEST(View, LeadsBackToTheStoredPixelsInAllOrientations) {
  for (int orientation = 1; orientation <= 8; ++orientation) {
    SCOPED_TRACE(orientation);
    const Size stored{96, 48};
    Specification specification;
    specification.resize = ResizeMode::shortest_edge;
    specification.edge = 24;
    specification.crop = Size{16, 16};
    Picture blank;
    blank.size = stored;
    blank.rgb.assign(static_cast<std::size_t>(stored.width) * stored.height * 3, 0);
    Picture upright = blank;
    apply_orientation(upright, orientation);
    const View view = prepare(upright, specification).view;
    EXPECT_EQ(view.picture(), upright.size);

    const int row = 1;
    const int column = 2;
    const Rectangle part = view.stored(view.cell(row, column, 4, 4));
    for (int y = static_cast<int>(part.top); y < static_cast<int>(part.bottom); ++y)
      for (int x = static_cast<int>(part.left); x < static_cast<int>(part.right); ++x)
        for (int c = 0; c < 3; ++c)
          blank.rgb[(static_cast<std::size_t>(y) * stored.width + x) * 3 + c] = 255;
    apply_orientation(blank, orientation);
    const Picture seen = prepare_bytes(blank, specification);
    for (int y = 0; y < 16; ++y)
      for (int x = 0; x < 16; ++x) {
        const bool lit = y / 4 == row && x / 4 == column;
        const int value = seen.rgb[(static_cast<std::size_t>(y) * 16 + x) * 3];
        EXPECT_EQ(value > 127, lit) << x << ", " << y << " is " << value;
      }
  }
}

}  // namespace
}  // namespace vitascope::image
