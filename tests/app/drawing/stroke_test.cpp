#include "app/drawing/stroke.h"

#include <gtest/gtest.h>

#include <cmath>

namespace vitascope::drawing {
namespace {

constexpr Colour kWhite{255, 255, 255};
constexpr Colour kBlack{0, 0, 0};

TEST(Stroke, CoversItsWidthExactly) {
  // Two pixels around y = 5, from the left edge to the right one.
  Canvas canvas({20, 10}, kWhite);
  stroke(canvas, canvas.area(), {{-5, 5}, {25, 5}}, 2, kBlack);
  for (int x = 0; x < 20; ++x) {
    EXPECT_EQ(canvas.at(x, 3), kWhite);
    EXPECT_EQ(canvas.at(x, 4), kBlack);
    EXPECT_EQ(canvas.at(x, 5), kBlack);
    EXPECT_EQ(canvas.at(x, 6), kWhite);
  }
}

TEST(Stroke, BlendsEachPixelOnce) {
  // The line goes there and back over half-covered rows.
  Canvas canvas({20, 10}, kWhite);
  stroke(canvas, canvas.area(), {{-5, 5}, {25, 5}, {-5, 5}}, 1, kBlack);
  EXPECT_EQ(canvas.at(10, 4), (Colour{128, 128, 128}));
  EXPECT_EQ(canvas.at(10, 5), (Colour{128, 128, 128}));
}

TEST(Stroke, BreaksWhereAPointIsMissing) {
  Canvas canvas({30, 10}, kWhite);
  stroke(canvas, canvas.area(), {{2, 5}, {8, 5}, {std::nan(""), 5}, {20, 5}, {28, 5}}, 2, kBlack);
  EXPECT_EQ(canvas.at(5, 5), kBlack);
  EXPECT_EQ(canvas.at(14, 5), kWhite);
  EXPECT_EQ(canvas.at(24, 5), kBlack);
}

TEST(Stroke, StaysInsideItsClip) {
  Canvas canvas({20, 10}, kWhite);
  stroke(canvas, {5, 0, 5, 10}, {{-5, 5}, {25, 5}}, 2, kBlack);
  disc(canvas, {5, 0, 5, 10}, {10, 5}, 4, kBlack);
  for (int y = 0; y < 10; ++y) {
    EXPECT_EQ(canvas.at(4, y), kWhite);
    EXPECT_EQ(canvas.at(10, y), kWhite);
  }
  EXPECT_EQ(canvas.at(9, 5), kBlack);
}

TEST(Stroke, DiscHasItsArea) {
  Canvas canvas({40, 40}, kWhite);
  disc(canvas, canvas.area(), {20, 20}, 12, kBlack);
  double area = 0;
  for (int y = 0; y < 40; ++y) {
    for (int x = 0; x < 40; ++x) area += 1 - canvas.at(x, y).r / 255.0;
  }
  EXPECT_NEAR(area, 3.14159265 * 144, 4);
}

TEST(Stroke, DashesAreAsLongAsTheirGaps) {
  const auto pieces = dashes({{0, 0}, {6, 0}, {16, 0}}, 4);
  ASSERT_EQ(pieces.size(), 2u);
  EXPECT_EQ(pieces[0].front().x, 0);
  EXPECT_EQ(pieces[0].back().x, 4);
  EXPECT_EQ(pieces[1].front().x, 8);
  EXPECT_EQ(pieces[1].back().x, 12);
}

TEST(Stroke, DashesLeaveAGapWhereAPointIsMissing) {
  const double none = std::nan("");
  for (const auto& piece : dashes({{0, 0}, {3, 0}, {none, 0}, {20, 0}, {30, 0}}, 4)) {
    EXPECT_TRUE(piece.back().x <= 3 || piece.front().x >= 20);
  }
}

}  // namespace
}  // namespace vitascope::drawing
