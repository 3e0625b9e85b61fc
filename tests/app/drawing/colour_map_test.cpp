#include "app/drawing/colour_map.h"

#include <gtest/gtest.h>

#include <vector>

namespace vitascope::drawing {
namespace {

struct Reference {
  std::size_t index;
  double r, g, b;
};

void expect_within_a_level(ColourMap map, const std::vector<Reference>& references) {
  for (const Reference& expected : references) {
    const Colour got = table(map)[expected.index];
    EXPECT_NEAR(got.r, expected.r * 255, 1) << expected.index;
    EXPECT_NEAR(got.g, expected.g * 255, 1) << expected.index;
    EXPECT_NEAR(got.b, expected.b * 255, 1) << expected.index;
  }
}

// The numbers are from matplotlib 3.8.4, matplotlib.colormaps[name].colors[index].
TEST(ColourMap, ViridisIsThatOfMatplotlib) {
  expect_within_a_level(ColourMap::viridis, {{0, .267004, .004874, .329415},
                                             {32, .278826, .17549, .483397},
                                             {64, .229739, .322361, .545706},
                                             {100, .166617, .463708, .558119},
                                             {128, .127568, .566949, .550556},
                                             {192, .369214, .788888, .382914},
                                             {230, .741388, .873449, .149561},
                                             {255, .993248, .906157, .143936}});
}

TEST(ColourMap, InfernoIsThatOfMatplotlib) {
  expect_within_a_level(ColourMap::inferno, {{0, .001462, .000466, .013866},
                                             {32, .129285, .047293, .290788},
                                             {64, .3415, .062325, .429425},
                                             {100, .565854, .143567, .408258},
                                             {128, .735683, .215906, .330245},
                                             {192, .978422, .557937, .034931},
                                             {230, .964394, .843848, .273391},
                                             {255, .988362, .998364, .644924}});
}

TEST(ColourMap, TurboIsThatOfMatplotlib) {
  expect_within_a_level(ColourMap::turbo, {{0, .18995, .07176, .23217},
                                           {32, .27628, .42118, .89123},
                                           {64, .15844, .73551, .92305},
                                           {100, .24797, .96423, .54303},
                                           {128, .64362, .98999, .23356},
                                           {192, .9836, .49291, .12849},
                                           {230, .76476, .14374, .01041},
                                           {255, .4796, .01583, .01055}});
}

TEST(ColourMap, ViridisInfernoAndGreyRiseInBrightness) {
  for (const ColourMap map : {ColourMap::viridis, ColourMap::inferno, ColourMap::grey}) {
    for (std::size_t i = 8; i < 256; i += 8) {
      EXPECT_GT(luma(table(map)[i]), luma(table(map)[i - 8])) << i;
    }
  }
}

TEST(ColourMap, ClampsAndRounds) {
  EXPECT_EQ(colour(ColourMap::grey, -1), (Colour{0, 0, 0}));
  EXPECT_EQ(colour(ColourMap::grey, 2), (Colour{255, 255, 255}));
  EXPECT_EQ(colour(ColourMap::grey, 0.3), (Colour{77, 77, 77}));  // 76.5
}

TEST(ColourMap, IsFoundByName) {
  for (const std::string& name : colour_map_names()) EXPECT_TRUE(find_colour_map(name)) << name;
  EXPECT_EQ(find_colour_map("inferno"), ColourMap::inferno);
  EXPECT_EQ(find_colour_map("grey"), ColourMap::grey);
  EXPECT_FALSE(find_colour_map("jet"));
}

}  // namespace
}  // namespace vitascope::drawing
