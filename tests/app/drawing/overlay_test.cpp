#include "app/drawing/overlay.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "vit/error.h"
#include "vit/image/orientation.h"

namespace vitascope::drawing {
namespace {

using image::Rectangle;
using image::Size;
using image::Specification;
using image::View;

constexpr Colour kWhite{255, 255, 255};

image::Picture photo_of(Size size, Colour colour) {
  image::Picture photo;
  photo.rgb = Canvas(size, colour).rgb();
  photo.size = photo.stored = size;
  photo.path = "photo.jpg";
  return photo;
}

View view_of(const Specification& specification, Size photo) {
  return View(image::geometry(specification, photo), photo, photo, 1);
}

Specification squash(Size size) {
  Specification specification;
  specification.size = size;
  return specification;
}

Specification crop(int edge, Size size) {
  Specification specification;
  specification.resize = image::ResizeMode::shortest_edge;
  specification.edge = edge;
  specification.crop = size;
  return specification;
}

/// A map of zeros with a one.
CellMap bright(int row, int column, int rows, int columns) {
  CellMap map{rows, columns, std::vector<float>(static_cast<std::size_t>(rows * columns))};
  map.values[static_cast<std::size_t>(row * columns + column)] = 1;
  return map;
}

/// Only the map is shown, in grey: the cell of value 1 is white, all else is not.
OverlayStyle only_map() {
  OverlayStyle style;
  style.colours = ColourMap::grey;
  style.alpha = 1;
  return style;
}

void expect_white_is(const Canvas& picture, const Rectangle& cell) {
  int wrong = 0;
  for (int y = 0; y < picture.size().height; ++y) {
    for (int x = 0; x < picture.size().width; ++x) {
      const bool inside = x + 0.5 >= cell.left && x + 0.5 < cell.right && y + 0.5 >= cell.top &&
                          y + 0.5 < cell.bottom;
      wrong += (picture.at(x, y) == kWhite) != inside;
    }
  }
  EXPECT_EQ(wrong, 0);
}

TEST(Overlay, CellsLieWhereTheSquashPutThem) {
  const image::Picture photo = photo_of({300, 200}, {90, 90, 90});
  const Overlay overlay =
      draw_overlay(photo, bright(1, 2, 4, 5), view_of(squash({32, 32}), photo.size), only_map());
  expect_white_is(overlay.picture, {120, 50, 180, 100});
  EXPECT_FALSE(overlay.dimmed);
}

TEST(Overlay, CellsLieInsideTheCropAndTheRestIsDimmed) {
  // 300 x 200 becomes 60 x 40; the crop begins 14 and 4 pixels in, 5 of the photo's pixels each.
  const image::Picture photo = photo_of({300, 200}, {200, 100, 50});
  const Overlay overlay =
      draw_overlay(photo, bright(1, 2, 4, 4), view_of(crop(40, {32, 32}), photo.size), only_map());
  expect_white_is(overlay.picture, {150, 60, 190, 100});
  EXPECT_TRUE(overlay.dimmed);
  // The luma of the photo is 124 (.299 R + .587 G + .114 B), 35% of it 43.
  for (int y = 0; y < 200; ++y) {
    for (int x = 0; x < 300; ++x) {
      const bool seen = x >= 70 && x < 230 && y >= 20 && y < 180;
      ASSERT_EQ(overlay.picture.at(x, y) == (Colour{43, 43, 43}), !seen) << x << ", " << y;
    }
  }
}

TEST(Overlay, CellsLieRightOnATurnedPhoto) {
  // What the file holds at columns 0 to 75 of rows 0 to 50 is the top right once it is turned.
  image::Picture photo = photo_of({300, 200}, {0, 0, 0});
  Canvas file(photo);
  file.fill({0, 0, 75, 50}, kWhite);
  photo.rgb = file.rgb();
  image::apply_orientation(photo, 6);
  ASSERT_EQ(photo.size, (Size{200, 300}));
  const View view(image::geometry(squash({32, 32}), photo.size), photo.size, {300, 200}, 6);
  const Overlay overlay = draw_overlay(photo, bright(0, 3, 4, 4), view, only_map());
  expect_white_is(overlay.picture, {150, 0, 200, 75});
  OverlayStyle mixed = only_map();
  mixed.alpha = 0.5;
  expect_white_is(draw_overlay(photo, bright(0, 3, 4, 4), view, mixed).picture, {150, 0, 200, 75});
}

TEST(Overlay, CellsLieWhereViewSaysForAnySize) {
  for (const Specification& specification : {squash({31, 17}), crop(37, {32, 24})}) {
    const image::Picture photo = photo_of({301, 199}, {0, 0, 0});
    const View view = view_of(specification, photo.size);
    for (const auto& [row, column] : {std::pair(0, 0), std::pair(2, 3), std::pair(4, 6)}) {
      const Overlay overlay = draw_overlay(photo, bright(row, column, 5, 7), view, only_map());
      expect_white_is(overlay.picture, view.cell(row, column, 5, 7));
    }
  }
}

TEST(Overlay, CellsThatStickOutOfThePhotoAreCut) {
  Specification specification;
  specification.resize = image::ResizeMode::none;
  specification.crop = Size{32, 32};
  const image::Picture photo = photo_of({16, 40}, {0, 0, 0});
  const Overlay overlay =
      draw_overlay(photo, bright(0, 0, 2, 2), view_of(specification, photo.size), only_map());
  expect_white_is(overlay.picture, {0, 4, 8, 20});
}

TEST(Overlay, KeepsItsPlaceInAnotherWidth) {
  const image::Picture photo = photo_of({300, 200}, {90, 90, 90});
  OverlayStyle style = only_map();
  style.width = 150;
  const Overlay overlay =
      draw_overlay(photo, bright(1, 2, 4, 4), view_of(crop(40, {32, 32}), photo.size), style);
  EXPECT_EQ(overlay.picture.size(), (Size{150, 100}));
  expect_white_is(overlay.picture, {75, 30, 95, 50});
}

TEST(Overlay, SmoothMapsPeakInTheirCell) {
  const image::Picture photo = photo_of({300, 200}, {0, 0, 0});
  const View view = view_of(crop(40, {32, 32}), photo.size);
  for (const Upsampling upsampling : {Upsampling::bilinear, Upsampling::bicubic}) {
    OverlayStyle style = only_map();
    style.upsampling = upsampling;
    const Overlay overlay = draw_overlay(photo, bright(1, 2, 4, 4), view, style);
    // The cell's centre is the corner of four pixels.
    EXPECT_GT(overlay.picture.at(169, 79).r, 240);
    EXPECT_EQ(overlay.picture.at(169, 79), overlay.picture.at(170, 80));
    EXPECT_GT(overlay.picture.at(169, 79).r, overlay.picture.at(155, 79).r);
    EXPECT_EQ(overlay.picture.at(100, 150).r, 0);
  }
}

TEST(Overlay, BlendsPhotoAndColour) {
  const image::Picture photo = photo_of({20, 10}, {100, 40, 200});
  OverlayStyle style = only_map();
  style.alpha = 0.25;
  const Overlay overlay =
      draw_overlay(photo, {1, 2, {0, 1}}, view_of(squash({8, 8}), photo.size), style);
  EXPECT_EQ(overlay.picture.at(3, 3), (Colour{75, 30, 150}));    // three quarters of the photo
  EXPECT_EQ(overlay.picture.at(13, 3), (Colour{139, 94, 214}));  // and a quarter of white
  style.colours = ColourMap::viridis;
  style.alpha = 1;
  const Overlay coloured =
      draw_overlay(photo, {1, 2, {0, 1}}, view_of(squash({8, 8}), photo.size), style);
  EXPECT_EQ(coloured.picture.at(3, 3), table(ColourMap::viridis)[0]);
  EXPECT_EQ(coloured.picture.at(13, 3), table(ColourMap::viridis)[255]);
}

TEST(Overlay, StatesTheRangeThatItUsed) {
  const image::Picture photo = photo_of({50, 10}, {0, 0, 0});
  const View view = view_of(squash({8, 8}), photo.size);
  const CellMap map{1, 5, {3, 10, 1, 4, 2}};
  const Overlay full = draw_overlay(photo, map, view, only_map());
  EXPECT_EQ(full.range, (Range{1, 10}));
  EXPECT_FALSE(full.below || full.above);
  OverlayStyle style = only_map();
  style.low_percentile = 10;
  style.high_percentile = 90;
  const Overlay clipped = draw_overlay(photo, map, view, style);
  EXPECT_NEAR(clipped.range.low, 1.4, 1e-12);
  EXPECT_NEAR(clipped.range.high, 7.6, 1e-12);
  EXPECT_TRUE(clipped.below && clipped.above);
  EXPECT_EQ(clipped.picture.at(15, 5), kWhite);                   // 10 is beyond
  EXPECT_EQ(clipped.picture.at(35, 5), (Colour{107, 107, 107}));  // (4 - 1.4) / 6.2 of 255 is 106.9
  style.range = Range{0, 20};
  const Overlay shared = draw_overlay(photo, map, view, style);
  EXPECT_EQ(shared.range, (Range{0, 20}));
  EXPECT_EQ(shared.picture.at(15, 5), (Colour{128, 128, 128}));
  EXPECT_FALSE(shared.below || shared.above);
}

TEST(Overlay, ClippingNeverHidesTheOnlyValueThatStandsOut) {
  const image::Picture photo = photo_of({400, 200}, {0, 0, 0});
  OverlayStyle style = only_map();
  style.high_percentile = 99;
  const Overlay overlay =
      draw_overlay(photo, bright(3, 7, 10, 20), view_of(squash({8, 8}), photo.size), style);
  EXPECT_EQ(overlay.range, (Range{0, 1}));
  EXPECT_FALSE(overlay.constant);
  expect_white_is(overlay.picture, {140, 60, 160, 80});
}

TEST(Overlay, AConstantMapIsFlat) {
  const image::Picture photo = photo_of({40, 40}, {0, 0, 0});
  const CellMap map{2, 2, {0.25F, 0.25F, 0.25F, 0.25F}};
  OverlayStyle style = only_map();
  style.contour = true;
  const View view = view_of(squash({8, 8}), photo.size);
  const Overlay overlay = draw_overlay(photo, map, view, style);
  EXPECT_TRUE(overlay.constant);
  EXPECT_EQ(overlay.contour_area, 0);
  EXPECT_EQ(overlay.picture.rgb(), Canvas({40, 40}, {128, 128, 128}).rgb());
  style.range = Range{0, 1};
  EXPECT_EQ(draw_overlay(photo, map, view, style).picture.at(9, 9), (Colour{64, 64, 64}));
}

TEST(Overlay, DrawsTheContourAtTheBorderOfTheTopFifth) {
  const image::Picture photo = photo_of({50, 20}, {90, 90, 90});
  OverlayStyle style = only_map();
  style.alpha = 0;
  style.contour = true;
  const View view = view_of(squash({8, 8}), photo.size);
  const Overlay overlay = draw_overlay(photo, {1, 5, {1, 2, 9, 3, 4}}, view, style);
  EXPECT_DOUBLE_EQ(overlay.contour_area, 0.2);
  for (int y = 0; y < 20; ++y) {
    for (int x = 0; x < 50; ++x) {
      const bool inside = x >= 20 && x < 30;
      const bool rim = x == 20 || x == 29 || y == 0 || y == 19;
      const Colour expected = inside && rim        ? kWhite
                              : x == 19 || x == 30 ? Colour{0, 0, 0}
                                                   : Colour{90, 90, 90};
      ASSERT_EQ(overlay.picture.at(x, y), expected) << x << ", " << y;
    }
  }
  EXPECT_DOUBLE_EQ(draw_overlay(photo, {1, 5, {1, 9, 9, 3, 4}}, view, style).contour_area, 0.4);
}

TEST(Overlay, RefusesNumbersThatAreNone) {
  const image::Picture photo = photo_of({30, 20}, {0, 0, 0});
  const View view = view_of(squash({8, 8}), photo.size);
  for (const float bad : {std::nanf(""), std::numeric_limits<float>::infinity()}) {
    CellMap map = bright(0, 0, 3, 4);
    map.values[6] = bad;
    try {
      draw_overlay(photo, map, view, only_map());
      ADD_FAILURE() << "drew " << bad;
    } catch (const InputError& error) {
      EXPECT_EQ(error.path(), "photo.jpg");
      EXPECT_THAT(error.what(), ::testing::HasSubstr("row 1, column 2"));
    }
  }
}

TEST(Overlay, RefusesWhatDoesNotBelongTogether) {
  const image::Picture photo = photo_of({30, 20}, {0, 0, 0});
  const View view = view_of(squash({8, 8}), photo.size);
  EXPECT_THROW(draw_overlay(photo, {2, 2, {1, 2, 3}}, view, only_map()), InternalError);
  EXPECT_THROW(draw_overlay(photo, {0, 0, {}}, view, only_map()), InternalError);
  EXPECT_THROW(draw_overlay(photo_of({20, 30}, {}), bright(0, 0, 2, 2), view, only_map()),
               InternalError);
}

}  // namespace
}  // namespace vitascope::drawing
