#include "app/drawing/canvas.h"

#include <gtest/gtest.h>

namespace vitascope::drawing {
namespace {

constexpr Colour kWhite{255, 255, 255};
constexpr Colour kRed{255, 0, 0};

TEST(Canvas, BlendsByTheFormulaRounded) {
  // 100 + .25 * (201 - 100) = 125.25; 10 + .25 * (0 - 10) = 7.5, rounded up.
  EXPECT_EQ(blended({100, 10, 0}, {201, 0, 255}, 0.25), (Colour{125, 8, 64}));
  EXPECT_EQ(blended({1, 2, 3}, {200, 201, 202}, 0), (Colour{1, 2, 3}));
  EXPECT_EQ(blended({1, 2, 3}, {200, 201, 202}, 1), (Colour{200, 201, 202}));
  EXPECT_EQ(blended({1, 2, 3}, {200, 201, 202}, 7), (Colour{200, 201, 202}));
}

TEST(Canvas, LumaIsThatOfPillow) {
  // Image.new("RGB", (1, 1), c).convert("L").getpixel((0, 0)) of Pillow.
  EXPECT_EQ(luma({255, 0, 0}), 76);
  EXPECT_EQ(luma({0, 255, 0}), 150);
  EXPECT_EQ(luma({0, 0, 255}), 29);
  EXPECT_EQ(luma({255, 255, 255}), 255);
  EXPECT_EQ(luma({12, 200, 77}), 130);
}

TEST(Canvas, FillsWhatLiesInside) {
  Canvas canvas({4, 3}, kWhite);
  canvas.fill({-2, 1, 4, 9}, kRed);
  for (int y = 0; y < 3; ++y) {
    for (int x = 0; x < 4; ++x) {
      EXPECT_EQ(canvas.at(x, y), x < 2 && y >= 1 ? kRed : kWhite) << x << ", " << y;
    }
  }
  canvas.fill({9, 9, 3, 3}, kRed);
  canvas.set(-1, 0, kRed);
  canvas.blend(0, 3, kRed, 1);
  EXPECT_EQ(canvas.rgb().size(), 36u);
}

TEST(Canvas, FramesInside) {
  Canvas canvas({6, 5}, kWhite);
  canvas.frame({1, 1, 4, 3}, 1, kRed);
  for (int y = 0; y < 5; ++y) {
    for (int x = 0; x < 6; ++x) {
      const bool inside = x >= 1 && x < 5 && y >= 1 && y < 4;
      const bool core = x >= 2 && x < 4 && y == 2;
      EXPECT_EQ(canvas.at(x, y), inside && !core ? kRed : kWhite) << x << ", " << y;
    }
  }
}

TEST(Canvas, CopiesAPictureAndClipsIt) {
  Canvas stamp({2, 2}, kWhite);
  stamp.set(0, 0, {1, 0, 0});
  stamp.set(1, 0, {2, 0, 0});
  stamp.set(0, 1, {3, 0, 0});
  stamp.set(1, 1, {4, 0, 0});
  Canvas canvas({3, 3}, kWhite);
  canvas.draw(stamp, 2, 2);
  canvas.draw(stamp, -1, 0);
  canvas.draw(stamp, 5, -5);
  EXPECT_EQ(canvas.at(2, 2), (Colour{1, 0, 0}));
  EXPECT_EQ(canvas.at(0, 0), (Colour{2, 0, 0}));
  EXPECT_EQ(canvas.at(0, 1), (Colour{4, 0, 0}));
  EXPECT_EQ(canvas.at(1, 1), kWhite);
}

TEST(Canvas, FitsIntoRoomWithItsAspect) {
  EXPECT_EQ(fitted({300, 200}, {150, 150}), (image::Size{150, 100}));
  EXPECT_EQ(fitted({20, 40}, {100, 100}), (image::Size{50, 100}));
  EXPECT_EQ(fitted({4000, 3}, {100, 100}), (image::Size{100, 1}));
}

TEST(Canvas, StacksPicturesAtTheLeftEdge) {
  const Colour red{200, 0, 0};
  const Colour blue{0, 0, 200};
  const Canvas both = stacked({Canvas({3, 2}, red), Canvas({5, 4}, blue)});
  EXPECT_EQ(both.size(), (image::Size{5, 6}));
  EXPECT_EQ(both.at(2, 1), red);
  EXPECT_EQ(both.at(3, 1), (Colour{255, 255, 255}));
  EXPECT_EQ(both.at(0, 2), blue);
  EXPECT_EQ(both.at(4, 5), blue);
}

}  // namespace
}  // namespace vitascope::drawing
