#include "datasets/mask_region.h"

#include <gmock/gmock.h>

#include <memory>
#include <string>

namespace vitascope::datasets {
namespace {

using image::Size;
using testing::ElementsAre;
using testing::Optional;

/// A mask of a size with nothing in it.
struct Canvas {
  explicit Canvas(Size of) : size(of), pixels(std::make_unique<bool[]>(count())) {}

  std::size_t count() const { return static_cast<std::size_t>(size.width) * size.height; }
  void add(const MaskRegion& region, Size annotated) {
    draw(region, annotated, {{pixels.get(), count()}, size});
  }
  /// The mask as a picture of '#' and '.', a line a row.
  std::string shown() const {
    std::string text;
    for (std::size_t i = 0; i < count(); ++i) {
      text += pixels[i] ? '#' : '.';
      if ((i + 1) % static_cast<std::size_t>(size.width) == 0) text += '\n';
    }
    return text;
  }

  Size size;
  std::unique_ptr<bool[]> pixels;
};

std::string drawn(const MaskRegion& region, Size annotated, Size size) {
  Canvas canvas(size);
  canvas.add(region, annotated);
  return canvas.shown();
}

MaskRegion polygons(std::vector<std::vector<double>> corners) {
  MaskRegion region;
  region.polygons = std::move(corners);
  return region;
}

MaskRegion runs(std::vector<std::int64_t> lengths) {
  MaskRegion region;
  region.runs = std::move(lengths);
  return region;
}

TEST(MaskRegion, APolygonHasThePixelsWhoseCentreLiesInIt) {
  const Size size{6, 4};
  EXPECT_EQ(drawn(polygons({{1, 1, 4, 1, 4, 3, 1, 3}}), size, size),
            "......\n.###..\n.###..\n......\n");
  // From 1.4 to 3.6 lie the centres 1.5, 2.5 and 3.5; from 1.6 to 2.4 none.
  EXPECT_EQ(drawn(polygons({{1.4, 0.6, 3.6, 0.6, 3.6, 2.4, 1.4, 2.4}}), size, size),
            "......\n.###..\n......\n......\n");
  EXPECT_EQ(drawn(polygons({{1.6, 0, 2.4, 0, 2.4, 4, 1.6, 4}}), size, size),
            "......\n......\n......\n......\n");
  // A corner of a square: x + y < 4.
  EXPECT_EQ(drawn(polygons({{0, 0, 4, 0, 0, 4}}), size, size), "###...\n##....\n#.....\n......\n");
}

TEST(MaskRegion, WhatAnOutlineGoesAroundTwiceIsOutside) {
  const std::vector<double> twice = {0, 0, 6, 0, 6, 4, 0, 4, 0, 0, 2, 1, 2, 3, 4, 3, 4, 1, 2, 1};
  EXPECT_EQ(drawn(polygons({twice}), {6, 4}, {6, 4}), "######\n##..##\n##..##\n######\n");
}

TEST(MaskRegion, PolygonsAreUnited) {
  const Size size{6, 2};
  EXPECT_EQ(drawn(polygons({{0, 0, 3, 0, 3, 2, 0, 2}, {2, 0, 5, 0, 5, 1, 2, 1}}), size, size),
            "#####.\n###...\n");
}

TEST(MaskRegion, BeyondTheBorderIsCutOff) {
  const Size size{4, 2};
  EXPECT_EQ(drawn(polygons({{-9, -9, 2, -9, 2, 1, -9, 1}}), size, size), "##..\n....\n");
  EXPECT_EQ(drawn(polygons({{2, 1, 1e6, 1, 1e6, 1e6, 2, 1e6}}), size, size), "....\n..##\n");
  for (const double x : {-1e6, 1e6 - 1}) {
    EXPECT_EQ(drawn(polygons({{x, -5, x + 1, -5, x + 1, 5, x, 5}}), size, size), "....\n....\n");
  }
}

TEST(MaskRegion, PolygonsThatShareEdgesShareNoPixelAndLeaveNone) {
  // A fan around an odd point over the whole canvas; every pixel is in exactly one triangle.
  const Size size{31, 23};
  const std::vector<double> rim = {0, 0, 11.3, 0, 31, 0, 31, 7.7, 31, 23, 3.1, 23, 0, 23, 0, 14.9};
  std::vector<int> times(31 * 23);
  for (std::size_t i = 0; i < rim.size(); i += 2) {
    const std::size_t next = (i + 2) % rim.size();
    Canvas canvas(size);
    canvas.add(polygons({{rim[i], rim[i + 1], rim[next], rim[next + 1], 13.37, 9.5}}), size);
    for (std::size_t pixel = 0; pixel < times.size(); ++pixel) times[pixel] += canvas.pixels[pixel];
  }
  EXPECT_THAT(times, testing::Each(1));
}

TEST(MaskRegion, RunsGoDownTheColumns) {
  EXPECT_EQ(drawn(runs({1, 3, 2}), {3, 2}, {3, 2}), ".#.\n##.\n");
  EXPECT_EQ(drawn(runs({0, 2, 3, 0, 0, 1}), {3, 2}, {3, 2}), "#..\n#.#\n");
  EXPECT_EQ(drawn(runs({6}), {3, 2}, {3, 2}), "...\n...\n");
}

TEST(MaskRegion, IsStretchedToTheSizeOfTheMask) {
  EXPECT_EQ(drawn(runs({1, 3, 2}), {3, 2}, {6, 4}), "..##..\n..##..\n####..\n####..\n");
  EXPECT_EQ(drawn(runs({1, 3, 2}), {3, 2}, {1, 1}), "#\n");  // its centre is over the second row
  EXPECT_EQ(drawn(polygons({{0, 0, 2, 0, 2, 1, 0, 1}}), {3, 2}, {6, 4}),
            "####..\n####..\n......\n......\n");
}

TEST(MaskRegion, KeepsWhatIsThere) {
  Canvas canvas({3, 1});
  canvas.add(runs({0, 1, 2}), {3, 1});
  canvas.add(polygons({{2, 0, 3, 0, 3, 1, 2, 1}}), {3, 1});
  EXPECT_EQ(canvas.shown(), "#.#\n");
}

TEST(DecodeRuns, ReadsNumbersAndDifferences) {
  EXPECT_THAT(decode_runs(""), Optional(ElementsAre()));
  EXPECT_THAT(decode_runs("05?"), Optional(ElementsAre(0, 5, 15)));
  EXPECT_THAT(decode_runs("P1"), Optional(ElementsAre(32)));  // 0 and more, then 1
  EXPECT_THAT(decode_runs("5678"), Optional(ElementsAre(5, 6, 7, 8 + 6)));
  EXPECT_THAT(decode_runs("567N"), Optional(ElementsAre(5, 6, 7, 4)));  // 'N' is -2, to 6
}

TEST(DecodeRuns, RefusesDamage) {
  for (const char* text : {"5 6", "p", "/", "5P", "N", "56N7", "567I", "PPPPPPPPPP1", "\xff"}) {
    EXPECT_EQ(decode_runs(text), std::nullopt) << text;
  }
}

}  // namespace
}  // namespace vitascope::datasets
