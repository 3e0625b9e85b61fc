#include "app/drawing/chart.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "app/drawing/theme.h"
#include "tests/app/drawing/pixels.h"

namespace vitascope::drawing {
namespace {

const Colour kBlue = kSeries[0];

LineChart one_line(std::vector<Point> points) {
  return {"", {"x", Range{0, 1}}, {"y", Range{0, 1}}, {{"line", std::move(points), false}}};
}

TEST(Chart, ALineLiesWhereItsNumbersSay) {
  const Font font = Font::find();
  // The corners of the plot, as lines along its edges show them.
  const Area whole = pixels_of(draw(one_line({{0, 0}, {1, 1}}), {600, 400}, font), kBlue);
  const Area level = pixels_of(draw(one_line({{0, 0.25}, {1, 0.25}}), {600, 400}, font), kBlue);
  EXPECT_NEAR(level.top + level.height / 2.0, whole.top + 0.75 * whole.height, 2);
  EXPECT_NEAR(level.left, whole.left, 2);
  EXPECT_NEAR(level.width, whole.width, 3);
  const Area upright = pixels_of(draw(one_line({{0.5, 0}, {0.5, 1}}), {600, 400}, font), kBlue);
  EXPECT_NEAR(upright.left + upright.width / 2.0, whole.left + 0.5 * whole.width, 2);
}

TEST(Chart, LargerNumbersAreHigher) {
  const Canvas canvas = draw(one_line({{0, 0}, {1, 1}}), {600, 400}, Font::find());
  const Area line = pixels_of(canvas, kBlue);
  const auto blue = [](Colour c) { return c == kBlue; };
  const Area left = bounds(canvas, {line.left, 0, 20, 400}, blue);
  const Area right = bounds(canvas, {line.left + line.width - 20, 0, 20, 400}, blue);
  EXPECT_GT(left.top, right.top + 100);
}

TEST(Chart, NothingLeavesThePlot) {
  const Area inside = pixels_of(draw(one_line({{0, 0}, {1, 1}}), {600, 400}, Font::find()), kBlue);
  const Area beyond =
      pixels_of(draw(one_line({{-5, -3}, {9, 5}}), {600, 400}, Font::find()), kBlue);
  EXPECT_GE(beyond.left, inside.left - 3);
  EXPECT_LE(beyond.left + beyond.width, inside.left + inside.width + 3);
}

TEST(Chart, GapsAndEmptyDataAreDrawn) {
  const Font font = Font::find();
  const double none = std::nan("");
  const Canvas gap =
      draw(one_line({{0, 0.5}, {0.3, 0.5}, {none, 0.5}, {0.7, 0.5}, {1, 0.5}}), {600, 400}, font);
  const Area line = pixels_of(gap, kBlue);
  EXPECT_FALSE(gap.at(line.left + line.width / 2, line.top) == kBlue);
  LineChart empty;
  empty.series = {{"nothing", {}, false}, {"nan", {{none, none}}, false}};
  EXPECT_EQ(draw(empty, {600, 400}, font).size(), (image::Size{600, 400}));
  EXPECT_EQ(draw(empty, {40, 30}, font).size(), (image::Size{40, 30}));
  EXPECT_EQ(draw(one_line({{0, 0.5}, {1, 0.5}}), {600, 400}, Font()).size(),
            (image::Size{600, 400}));
}

TEST(Chart, LegendOnlyWhereThereIsAChoice) {
  LineChart chart = one_line({{0, 0.9}, {1, 0.9}});
  const Canvas one = draw(chart, {600, 400}, Font::find());
  chart.series.push_back({"random", {{0, 0.5}, {1, 0.5}}, true});
  const Canvas two = draw(chart, {600, 400}, Font::find());
  EXPECT_LT(pixels_of(two, kBlue).top, pixels_of(one, kBlue).top);  // its sample in the legend
}

TEST(Chart, BarsAreAsLongAsTheirValues) {
  BarChart chart{"", {"", Range{0, 1}}, {{"a", 1.0, {}, false}}};
  const Font font = Font::find();
  const Area full = pixels_of(draw(chart, 600, font), kBlue);
  chart.bars[0].value = 0.4;
  const Area part = pixels_of(draw(chart, 600, font), kBlue);
  EXPECT_EQ(part.left, full.left);
  EXPECT_NEAR(part.width, 0.4 * full.width, 1);
}

TEST(Chart, BarsBelowZeroGoLeft) {
  const BarChart chart{"", {"", Range{-1, 1}}, {{"a", -0.5, {}, false}}};
  const BarChart other{"", {"", Range{-1, 1}}, {{"a", 0.5, {}, false}}};
  const Area left = pixels_of(draw(chart, 600, Font::find()), kBlue);
  const Area right = pixels_of(draw(other, 600, Font::find()), kBlue);
  EXPECT_NEAR(left.left + left.width, right.left, 2);
  EXPECT_NEAR(left.width, right.width, 2);
}

TEST(Chart, WhiskersReachTheirEnds) {
  BarChart chart{"", {"", Range{0, 1}}, {{"a", 1.0, {}, false}}};
  const Font none;
  const Area full = pixels_of(draw(chart, 600, none), kBlue);
  chart.bars[0] = {"a", 0.5, Range{0.25, 0.75}, false};
  const Area whisker = pixels_of(draw(chart, 600, none), kInk);
  EXPECT_NEAR(whisker.left, full.left + 0.25 * full.width, 2);
  EXPECT_NEAR(whisker.left + whisker.width, full.left + 0.75 * full.width, 2);
}

TEST(Chart, TheControlIsGrey) {
  const BarChart chart{"", {"", Range{0, 1}}, {{"random", 0.5, {}, true}}};
  EXPECT_EQ(pixels_of(draw(chart, 600, Font::find()), kBlue), Area{});
}

TEST(Chart, AMarkStandsWhereItIsAndKeepsInside) {
  LineChart chart = one_line({{0, 0.9}, {1, 0.9}});
  const Font font = Font::find();
  const Area line = pixels_of(draw(chart, {600, 400}, font), kBlue);
  const Canvas before = draw(chart, {600, 400}, font);
  chart.marks = {{0.25, "here"}};
  const Canvas after = draw(chart, {600, 400}, font);
  Area changed = bounds(after, {0, 0, 600, 400}, [](Colour) { return false; });
  for (int y = 0; y < 400; ++y) {
    for (int x = 0; x < 600; ++x) {
      if (after.at(x, y) == before.at(x, y)) continue;
      if (changed.width == 0) changed = {x, y, 1, 1};
      changed.left = std::min(changed.left, x);
      changed.width = std::max(changed.width, x - changed.left + 1);
      changed.height = y - changed.top + 1;
    }
  }
  EXPECT_NEAR(changed.left, line.left + line.width / 4.0, 3);  // the name is on its right
  EXPECT_GT(changed.width, 20);
  EXPECT_GT(changed.height, 250);
}

}  // namespace
}  // namespace vitascope::drawing
