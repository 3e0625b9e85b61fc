#include "app/curves.h"

#include <gtest/gtest.h>

#include "app/drawing/theme.h"
#include "tests/app/drawing/pixels.h"

namespace vitascope::app {
namespace {

std::vector<LogRow> falling(int epochs) {
  std::vector<LogRow> rows;
  rows.reserve(static_cast<std::size_t>(epochs));
  for (int epoch = 1; epoch <= epochs; ++epoch) {
    rows.push_back({.epoch = epoch,
                    .loss = 2.0 / epoch,
                    .accuracy = 1 - 1.0 / epoch,
                    .validation = {{"loss", 2.5 / epoch}, {"accuracy", 0.9 - 1.0 / epoch}},
                    .rate = 1e-4 / epoch,
                    .best = epoch == 2});
  }
  return rows;
}

/// Pixels of the second series' colour in a third of the picture: 0 is the top one.
drawing::Area validation_in(const drawing::Canvas& canvas, int third) {
  const int height = canvas.size().height / 3;
  return drawing::bounds(canvas, {0, third * height, canvas.size().width, height},
                         [](drawing::Colour c) { return c == drawing::kSeries[1]; });
}

TEST(Curves, ValidationIsDrawnForLossAndAccuracy) {
  const drawing::Font font = drawing::Font::find();
  const drawing::Canvas canvas = draw_curves(falling(4), font);
  EXPECT_GT(validation_in(canvas, 0).width, 500);
  EXPECT_GT(validation_in(canvas, 1).width, 500);
  EXPECT_EQ(validation_in(canvas, 2), drawing::Area{}) << "the rate is one line";
}

TEST(Curves, TheBestEpochIsMarkedInEachChart) {
  const drawing::Font font = drawing::Font::find();
  std::vector<LogRow> rows = falling(4);
  const drawing::Canvas marked = draw_curves(rows, font);
  rows[1].best = false;
  const drawing::Canvas plain = draw_curves(rows, font);
  const int third = plain.size().height / 3;
  for (int chart = 0; chart < 3; ++chart) {
    int changed = 0;
    for (int y = chart * third; y < (chart + 1) * third; ++y) {
      for (int x = 0; x < plain.size().width; ++x) {
        changed += plain.at(x, y) == marked.at(x, y) ? 0 : 1;
      }
    }
    EXPECT_GT(changed, 200) << chart;
  }
}

TEST(Curves, OneEpochIsEnough) {
  EXPECT_EQ(draw_curves(falling(1), drawing::Font::find()).size(),
            draw_curves(falling(9), drawing::Font::find()).size());
}

/// From 0 to 10 it would press all shares together.
TEST(Curves, CiderHasAChartOfItsOwn) {
  const drawing::Font font = drawing::Font::find();
  std::vector<LogRow> rows = falling(4);
  const drawing::Canvas without = draw_curves(rows, font);
  for (LogRow& row : rows) row.validation["cider_d"] = 8;
  const drawing::Canvas with = draw_curves(rows, font);
  EXPECT_EQ(3 * with.size().height, 4 * without.size().height);
  const int charts = without.size().height / 3 * 2;  // loss and accuracy
  for (int y = 0; y < charts; ++y) {
    for (int x = 0; x < with.size().width; ++x) {
      ASSERT_EQ(with.at(x, y), without.at(x, y)) << x << ' ' << y;
    }
  }
}

}  // namespace
}  // namespace vitascope::app
