#include "app/drawing/sheet.h"

#include <gtest/gtest.h>

#include "tests/app/drawing/pixels.h"
#include "vit/error.h"

namespace vitascope::drawing {
namespace {

Colour shade(int i) { return {static_cast<std::uint8_t>(10 + i), 90, 160}; }

Sheet sheet_of(int panels, image::Size size) {
  Sheet sheet;
  for (int i = 0; i < panels; ++i) {
    sheet.panels.push_back({"head " + std::to_string(i), Canvas(size, shade(i))});
  }
  return sheet;
}

TEST(Sheet, ChoosesAGridThatIsWiderThanHigh) {
  EXPECT_EQ(sheet_columns(1), 1);
  EXPECT_EQ(sheet_columns(2), 2);
  EXPECT_EQ(sheet_columns(12), 4);
  EXPECT_EQ(sheet_columns(16), 5);
  EXPECT_EQ(sheet_columns(24), 6);
}

TEST(Sheet, PanelsStandRowByRowInTheirOwnSize) {
  Sheet sheet = sheet_of(5, {120, 80});
  sheet.columns = 3;
  sheet.panel_width = 120;
  const Canvas canvas = draw(sheet, Font::find());
  const Area first = pixels_of(canvas, shade(0));
  for (int i = 0; i < 5; ++i) {
    const Area panel = pixels_of(canvas, shade(i));
    EXPECT_EQ(panel.width, 120);
    EXPECT_EQ(panel.height, 80);
    EXPECT_EQ(panel.top == first.top, i < 3);
    EXPECT_EQ(panel.left == first.left, i % 3 == 0);
  }
  EXPECT_GT(pixels_of(canvas, shade(1)).left, first.left + 120);
  EXPECT_GT(pixels_of(canvas, shade(3)).top, first.top + 80 + 10);  // room for a label
}

TEST(Sheet, KeepsEachPicturesAspect) {
  Sheet sheet = sheet_of(1, {200, 100});
  sheet.panels.push_back({"upright", Canvas({50, 50}, shade(7))});
  sheet.panel_width = 100;
  const Canvas canvas = draw(sheet, Font::find());
  const Area wide = pixels_of(canvas, shade(0));
  const Area square = pixels_of(canvas, shade(7));
  EXPECT_EQ(wide.width, 100);
  EXPECT_EQ(wide.height, 50);
  EXPECT_EQ(square.width, square.height);
  EXPECT_NEAR(wide.top + wide.height / 2.0, square.top + square.height / 2.0, 1);
}

TEST(Sheet, LabelsStandUnderTheirPanels) {
  Sheet sheet = sheet_of(2, {120, 80});
  sheet.columns = 2;
  sheet.panel_width = 120;
  const Canvas canvas = draw(sheet, Font::find());
  for (int i = 0; i < 2; ++i) {
    const Area panel = pixels_of(canvas, shade(i));
    const Area label = inked(canvas, {panel.left, panel.top + 80, 120, 30});
    EXPECT_GT(label.width, 20);
    EXPECT_NEAR(label.left + label.width / 2.0, panel.left + 60, 2);
  }
}

TEST(Sheet, LongLabelsStayInTheirColumn) {
  Sheet sheet = sheet_of(2, {120, 80});
  sheet.panel_width = 120;
  sheet.panels[0].label = std::string(100, 'w');
  sheet.panels[1].label = "";
  const Canvas canvas = draw(sheet, Font::find());
  const Area panel = pixels_of(canvas, shade(1));
  EXPECT_EQ(inked(canvas, {panel.left - 1, panel.top + 80, 121, 30}), Area{});
}

TEST(Sheet, HeadingAndScaleTakeTheirOwnRoom) {
  Sheet sheet = sheet_of(2, {120, 80});
  sheet.panel_width = 120;
  const Canvas bare = draw(sheet, Font::find());
  sheet.title = "Heads of layer 11";
  sheet.notes = {"one scale"};
  sheet.scale = ColourScale{ColourMap::viridis, {0, 1}, false, false};
  const Canvas full = draw(sheet, Font::find());
  EXPECT_GT(pixels_of(full, shade(0)).top, pixels_of(bare, shade(0)).top + 20);
  EXPECT_GT(full.size().height, bare.size().height + 40);
  EXPECT_EQ(full.size().width, bare.size().width);
}

TEST(Sheet, RefusesToBeEmpty) { EXPECT_THROW(draw(Sheet{}, Font::find()), InternalError); }

}  // namespace
}  // namespace vitascope::drawing
