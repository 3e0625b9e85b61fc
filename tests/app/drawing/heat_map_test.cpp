#include "app/drawing/heat_map.h"

#include <gtest/gtest.h>

#include <cmath>

#include "tests/app/drawing/pixels.h"
#include "vit/error.h"

namespace vitascope::drawing {
namespace {

HeatMap two_by_three(std::vector<double> values) {
  HeatMap map{"", {"a", "b"}, {"1", "2", "3"}, std::move(values), ColourMap::turbo, {}};
  return map;
}

TEST(HeatMap, CellsStandRowByRow) {
  // The one in the second row, third column is lowest and furthest right.
  const Canvas canvas = draw(two_by_three({0, .2, .4, .6, .8, 1}), 600, Font());
  const auto cell = [&](double value) {
    const Colour wanted = colour(ColourMap::turbo, value);
    // Without the bar under the cells.
    return bounds(canvas, {0, 0, 600, canvas.size().height - 45},
                  [&](Colour c) { return c == wanted; });
  };
  EXPECT_EQ(cell(0).top, cell(.4).top);
  EXPECT_EQ(cell(0).left, cell(.6).left);
  EXPECT_EQ(cell(.4).left, cell(1).left);
  EXPECT_EQ(cell(.6).top, cell(1).top);
  EXPECT_LT(cell(0).left + cell(0).width, cell(.2).left);
  EXPECT_LT(cell(0).top + cell(0).height, cell(.6).top);
  EXPECT_NEAR(cell(0).width, cell(.4).width, 1);
}

TEST(HeatMap, NumbersAreWrittenWhereTheyFit) {
  const auto written = [](int columns) {
    HeatMap map{"", {"a"}, {}, {}, ColourMap::grey, Range{0, 4}};
    map.columns.resize(static_cast<std::size_t>(columns));
    map.values.assign(map.columns.size(), 1);  // a dark cell, so that the number is white
    const Canvas canvas = draw(map, 600, Font::find());
    const Area cells = pixels_of(canvas, colour(ColourMap::grey, 0.25));
    return bounds(canvas, {cells.left + 1, cells.top + 1, 600 / columns - 9, 16}, [](Colour c) {
             return c == Colour{255, 255, 255};
           }) != Area{};
  };
  EXPECT_TRUE(written(4));
  EXPECT_FALSE(written(50));
}

TEST(HeatMap, MissingAndConstantValuesAreDrawn) {
  const double none = std::nan("");
  EXPECT_EQ(
      draw(two_by_three({none, none, none, none, none, none}), 600, Font::find()).size().width,
      600);
  const Canvas flat = draw(two_by_three({7, 7, 7, 7, 7, none}), 600, Font());
  EXPECT_GT(pixels_of(flat, colour(ColourMap::turbo, 0.5)).width, 300);
}

TEST(HeatMap, RefusesAnotherNumberOfValues) {
  EXPECT_THROW(draw(two_by_three({1, 2, 3}), 600, Font::find()), InternalError);
  EXPECT_THROW(draw(HeatMap{}, 600, Font::find()), InternalError);
}

}  // namespace
}  // namespace vitascope::drawing
