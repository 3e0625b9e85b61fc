#include "app/drawing/text.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>

#include "tests/app/drawing/pixels.h"
#include "tests/golden.h"
#include "vit/error.h"

namespace vitascope::drawing {
namespace {

using ::testing::HasSubstr;

constexpr Colour kPaper{255, 255, 255};
constexpr Colour kInk{0, 0, 0};

/// One text on a canvas of 200 x 60, with the baseline at y = 40 and the pen at x = 20.
Canvas written(const Font& font, std::string_view text, Align align = Align::left) {
  Canvas canvas({200, 60}, kPaper);
  font.draw(canvas, {20, 40}, text, 20, kInk, align);
  return canvas;
}

TEST(Text, MeasuresByTheFontsOwnAdvances) {
  // DejaVu Sans has 2048 units per em; hmtx gives H 1540, i 569, and a space 651 of them.
  const Font font = Font::find();
  EXPECT_NEAR(font.width("H", 20.48), 15.40, 0.02);
  EXPECT_NEAR(font.width("Hi H", 20.48), 15.40 + 5.69 + 6.51 + 15.40, 0.06);
  EXPECT_EQ(font.width("", 20), 0);
}

TEST(Text, StandsOnItsBaseline) {
  const Font font = Font::find();
  const Area letter = inked(written(font, "H"));
  EXPECT_EQ(letter.top + letter.height, 40);
  EXPECT_NEAR(letter.height, font.capital_height(20), 1);
  EXPECT_GE(letter.left, 20);
  const Area hanging = inked(written(font, "g"));
  EXPECT_GT(hanging.top + hanging.height, 42);
}

TEST(Text, IsAntiAliased) {
  const Canvas canvas = written(Font::find(), "S");
  int between = 0;
  for (int y = 0; y < 60; ++y) {
    for (int x = 0; x < 200; ++x) between += canvas.at(x, y).r > 40 && canvas.at(x, y).r < 215;
  }
  EXPECT_GT(between, 10);
}

TEST(Text, AlignsEitherEnd) {
  const Font font = Font::find();
  Canvas canvas({200, 60}, kPaper);
  font.draw(canvas, {150, 40}, "HHHH", 20, kInk, Align::right);
  const Area right = inked(canvas);
  EXPECT_LE(right.left + right.width, 151);
  EXPECT_GE(right.left + right.width, 146);
  Canvas middle({200, 60}, kPaper);
  font.draw(middle, {100, 40}, "HHHH", 20, kInk, Align::centre);
  const Area area = inked(middle);
  EXPECT_NEAR(area.left + area.width / 2.0, 100, 1);
}

TEST(Text, StaysInsideItsClip) {
  Canvas canvas({200, 60}, kPaper);
  Font::find().draw(canvas, {30, 30, 12, 8}, {20, 40}, "MMMMMM", 20, kInk);
  const Area area = inked(canvas);
  EXPECT_EQ(intersection(area, {30, 30, 12, 8}), area);
  EXPECT_GT(area.width, 6);
}

TEST(Text, ReadsUtf8) {
  const Font font = Font::find();
  EXPECT_NE(written(font, "é").rgb(), written(font, "e").rgb());
  EXPECT_EQ(font.width("é", 20), font.width("e", 20));
  EXPECT_NE(written(font, "Ж").rgb(), written(font, "?").rgb());
  // What is not UTF-8 looks like U+FFFD: a lone byte, an overlong form, a cut sequence, a control.
  const Canvas replaced = written(font, "\uFFFD");
  EXPECT_NE(replaced.rgb(), written(font, "?").rgb());
  EXPECT_EQ(written(font, "\xFF").rgb(), replaced.rgb());
  EXPECT_EQ(written(font, "\xC3").rgb(), replaced.rgb());
  EXPECT_EQ(written(font, "\n").rgb(), replaced.rgb());
}

TEST(Text, DrawsABoxForAMissingGlyph) {
  // DejaVu Sans has no Chinese characters. The box is a frame, with paper inside.
  const Canvas canvas = written(Font::find(), "\u732B");
  const Area box = inked(canvas);
  ASSERT_GT(box.height, 8);
  EXPECT_EQ(box.top + box.height, 40);
  for (int x = box.left; x < box.left + box.width; ++x) {
    EXPECT_EQ(canvas.at(x, box.top), kInk);
    EXPECT_EQ(canvas.at(x, 39), kInk);
  }
  EXPECT_EQ(canvas.at(box.left + box.width / 2, box.top + box.height / 2), kPaper);
  EXPECT_EQ(canvas.rgb(), written(Font::find(), "\u72AC").rgb());
}

TEST(Text, ShortensToAWidth) {
  const Font font = Font::find();
  const std::string text = "golden retriever, été";
  EXPECT_EQ(font.shortened(text, 14, 1000), text);
  EXPECT_EQ(font.shortened(text, 14, font.width(text, 14)), text);
  std::string shorter = font.shortened(text, 14, font.width(text, 14) - 1);
  EXPECT_THAT(shorter, ::testing::EndsWith("\u2026"));
  const double two = font.width("go\u2026", 14);
  EXPECT_EQ(font.shortened(text, 14, two + 0.01), "go\u2026");
  EXPECT_EQ(font.shortened(text, 14, two - 0.01), "g\u2026");
  EXPECT_EQ(font.shortened("éééééé", 14, font.width("éé\u2026", 14) - 0.01), "é\u2026");
  EXPECT_EQ(font.shortened(text, 14, 1), "");
}

TEST(Text, WrapsAtSpacesAndInsideLongWords) {
  const Font font = Font::find();
  const auto fits = [&](const char* text) { return font.width(text, 14) + 0.01; };
  EXPECT_THAT(font.wrapped("one two three", 14, fits("one two")),
              ::testing::ElementsAre("one two", "three"));
  EXPECT_THAT(font.wrapped("one two three", 14, fits("one two three")),
              ::testing::ElementsAre("one two three"));
  EXPECT_THAT(font.wrapped("wwwwwww", 14, fits("www")), ::testing::ElementsAre("www", "www", "w"));
  EXPECT_THAT(font.wrapped("ééé", 14, 0.5), ::testing::ElementsAre("é", "é", "é"));
  EXPECT_THAT(font.wrapped("", 14, 100), ::testing::IsEmpty());
}

TEST(Text, WithoutAFontDrawsNothingAndSaysSo) {
  const Font none;
  EXPECT_FALSE(none.present());
  EXPECT_THAT(none.warning(), HasSubstr("fonts-dejavu-core"));
  EXPECT_EQ(none.width("text", 20), 0);
  EXPECT_EQ(none.shortened("text", 20, 5), "text");
  EXPECT_THAT(none.wrapped("two words", 14, 5), ::testing::ElementsAre("two words"));
  EXPECT_EQ(inked(written(none, "text")), Area{});
  EXPECT_EQ(Font::find().warning(), "");
}

TEST(Text, TakesTheFontThatTheEnvironmentNames) {
  ::setenv("VITASCOPE_FONT", tests::golden("prepared.json").c_str(), 1);
  try {
    Font::find();
    ADD_FAILURE() << "a JSON file is no font";
  } catch (const UsageError& error) {
    EXPECT_THAT(error.what(), HasSubstr("VITASCOPE_FONT"));
    EXPECT_THAT(error.what(), HasSubstr("prepared.json"));
  }
  ::unsetenv("VITASCOPE_FONT");
  EXPECT_THROW(Font("no such file.ttf"), InputError);
}

}  // namespace
}  // namespace vitascope::drawing
