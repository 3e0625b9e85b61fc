#include "app/drawing/caption.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/app/drawing/pixels.h"

namespace vitascope::drawing {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

constexpr Colour kPhoto{200, 30, 60};

Caption caption_of(int lines) {
  Caption caption{"golden retriever", {}, ColourScale{ColourMap::viridis, {0, 1}, false, false}};
  for (int i = 0; i < lines; ++i) caption.lines.emplace_back("Attention of the class token.");
  return caption;
}

TEST(Caption, LeavesThePictureAsItIs) {
  const Canvas result = with_caption(Canvas({640, 400}, kPhoto), caption_of(2), Font::find());
  EXPECT_EQ(result.size().width, 640);
  EXPECT_EQ(pixels_of(result, kPhoto), (Area{0, 0, 640, 400}));
  const Area strip{0, 400, 640, result.size().height - 400};
  const Area ink = inked(result, strip);
  EXPECT_GT(ink.left, 8);  // a margin on all sides
  EXPECT_LT(ink.left + ink.width, 632);
  EXPECT_GT(ink.top, 404);
  EXPECT_LT(ink.top + ink.height, result.size().height - 4);
}

TEST(Caption, SmallPicturesStandInTheMiddle) {
  const Canvas result = with_caption(Canvas({32, 32}, kPhoto), caption_of(1), Font::find());
  EXPECT_EQ(result.size().width, 320);
  EXPECT_EQ(pixels_of(result, kPhoto), (Area{144, 0, 32, 32}));
}

TEST(Caption, GrowsByALineAndWithThePicture) {
  const Font font = Font::find();
  const auto height = [&](int width, int lines) {
    return with_caption(Canvas({width, 10}, kPhoto), caption_of(lines), font).size().height - 10;
  };
  EXPECT_NEAR(height(460, 3) - height(460, 2), 1.4 * 12, 1);
  EXPECT_NEAR(height(920, 2), height(460, 2) * 20 / 12.0, 4);
  Caption wrapped = caption_of(0);
  wrapped.lines = {std::string(40, 'w') + " " + std::string(40, 'w')};
  EXPECT_GT(with_caption(Canvas({460, 10}, kPhoto), wrapped, font).size().height - 10,
            height(460, 1));
}

TEST(Caption, WithoutAFontShowsTheColoursAlone) {
  const Canvas result = with_caption(Canvas({640, 400}, kPhoto), caption_of(3), Font());
  const Area ink = inked(result, {0, 400, 640, result.size().height - 400});
  EXPECT_GT(ink.width, 600);
  EXPECT_LT(ink.height, 20);
}

TEST(Caption, NotesSayWhatAReaderMustKnow) {
  Overlay overlay;
  OverlayStyle style;
  EXPECT_THAT(notes_on(overlay, style), IsEmpty());
  overlay.constant = true;
  overlay.dimmed = true;
  EXPECT_THAT(notes_on(overlay, style), ElementsAre("The map has the same value everywhere.",
                                                    "Dimmed: not seen by the network."));
  overlay.constant = overlay.dimmed = false;
  overlay.above = true;
  overlay.contour_area = 0.2;
  style.high_percentile = 99.5;
  EXPECT_THAT(notes_on(overlay, style),
              ElementsAre("Colours are clipped at percentiles 0 and 99.5.",
                          "Contour: the highest values, 20% of what the network saw."));
  style.range = Range{0, 1};
  overlay.contour_area = 0;
  EXPECT_THAT(notes_on(overlay, style),
              ElementsAre("Colours are clipped at the ends of the shared scale."));
}

TEST(ColourBar, RunsFromTheFirstColourToTheLast) {
  Canvas canvas({300, 60}, {255, 255, 255});
  draw_colour_bar(canvas, 22, 10, 256, {ColourMap::inferno, {0, 2}, false, false}, Font::find(),
                  12);
  for (int x = 0; x < 256; ++x) {
    const Colour got = canvas.at(22 + x, 12);
    const Colour expected = table(ColourMap::inferno)[static_cast<std::size_t>(x)];
    EXPECT_EQ(got, expected) << x;
  }
  EXPECT_EQ(canvas.at(21, 12), (Colour{255, 255, 255}));
  EXPECT_EQ(canvas.at(278, 12), (Colour{255, 255, 255}));
  const Area numbers = inked(canvas, {0, 21, 300, 39});
  EXPECT_LE(numbers.top + numbers.height, 10 + colour_bar_height(12));
}

TEST(ColourBar, OfOneValueHasOneColour) {
  Canvas canvas({300, 60}, {255, 255, 255});
  draw_colour_bar(canvas, 20, 10, 200, {ColourMap::grey, {3, 3}, false, false}, Font::find(), 12);
  EXPECT_EQ(pixels_of(canvas, {128, 128, 128}).width, 200);
}

TEST(ColourBar, MarksClippedEnds) {
  const auto drawn = [](bool below, bool above) {
    Canvas canvas({300, 60}, {255, 255, 255});
    draw_colour_bar(canvas, 20, 10, 200, {ColourMap::grey, {0, 1}, below, above}, Font::find(), 12);
    return canvas.rgb();
  };
  EXPECT_NE(drawn(false, false), drawn(true, false));
  EXPECT_NE(drawn(false, false), drawn(false, true));
}

}  // namespace
}  // namespace vitascope::drawing
