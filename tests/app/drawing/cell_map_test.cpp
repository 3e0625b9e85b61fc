#include "app/drawing/cell_map.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>

#include "vit/error.h"

namespace vitascope::drawing {
namespace {

/// A network that saw the whole photo as it is.
image::View whole(image::Size size) { return {image::Geometry{size, 0, 0, size}, size, size, 1}; }

TEST(CellMap, PercentilesAreThoseOfNumpy) {
  // numpy.percentile([3, 10, 1, 4, 2], [10, 90]) is [1.4, 7.6].
  const Range range = percentile_range({3, 10, 1, 4, 2}, 10, 90);
  EXPECT_NEAR(range.low, 1.4, 1e-12);
  EXPECT_NEAR(range.high, 7.6, 1e-12);
  EXPECT_EQ(percentile_range({3, 10, 1, 4, 2}, 0, 100), (Range{1, 10}));
  EXPECT_EQ(percentile_range({7}, 0, 100), (Range{7, 7}));
  EXPECT_THROW(percentile_range({}, 0, 100), InternalError);
  EXPECT_THROW(percentile_range({1}, 60, 60), InternalError);
  EXPECT_THROW(percentile_range({1}, 0, 101), InternalError);
}

TEST(CellMap, PartOfARange) {
  EXPECT_EQ(part_of({2, 4}, 2.5), 0.25);
  EXPECT_EQ(part_of({2, 4}, 9), 1);
  EXPECT_EQ(part_of({2, 4}, -9), 0);
  EXPECT_EQ(part_of({2, 2}, 2), 0.5);
  EXPECT_EQ(part_of({2, 2}, 1), 0);
  EXPECT_EQ(part_of({2, 2}, 3), 1);
}

TEST(CellMap, NearestKeepsCellsFlat) {
  const Field field = sample({2, 2, {1, 2, 3, 4}}, whole({6, 4}), {6, 4}, Upsampling::nearest);
  for (int y = 0; y < 4; ++y) {
    for (int x = 0; x < 6; ++x) {
      EXPECT_EQ(field.at(x, y), 1 + (x >= 3) + 2 * (y >= 2)) << x << ", " << y;
      EXPECT_TRUE(field.seen(x, y));
    }
  }
}

TEST(CellMap, BilinearIsStraightBetweenCentres) {
  // Centres at x = 2 and 6, pixels at .5, 1.5, ...
  const Field field = sample({1, 2, {0, 1}}, whole({8, 1}), {8, 1}, Upsampling::bilinear);
  const float expected[] = {0, 0, 0.125F, 0.375F, 0.625F, 0.875F, 1, 1};
  for (int x = 0; x < 8; ++x) EXPECT_NEAR(field.at(x, 0), expected[x], 1e-7) << x;
  const Field down = sample({2, 1, {0, 1}}, whole({1, 8}), {1, 8}, Upsampling::bilinear);
  for (int y = 0; y < 8; ++y) EXPECT_NEAR(down.at(0, y), expected[y], 1e-7) << y;
}

TEST(CellMap, BicubicIsThatOfKeys) {
  // Two pixels a cell: at a quarter of a cell beside a centre, the kernel's values at .25, .75,
  // 1.25 and 1.75 are .8671875, .2265625, -.0703125 and -.0234375.
  const Field field = sample({1, 5, {0, 0, 1, 0, 0}}, whole({10, 1}), {10, 1}, Upsampling::bicubic);
  const float expected[] = {0, -0.0234375F, -0.0703125F, 0.2265625F, 0.8671875F};
  for (int x = 0; x < 5; ++x) {
    EXPECT_NEAR(field.at(x, 0), expected[x], 1e-6) << x;
    EXPECT_NEAR(field.at(9 - x, 0), expected[x], 1e-6) << x;
  }
  const Field flat = sample({2, 2, {3, 3, 3, 3}}, whole({9, 7}), {9, 7}, Upsampling::bicubic);
  for (const float value : flat.values) EXPECT_NEAR(value, 3, 1e-6);
}

TEST(CellMap, TopPartIsExactAndKeepsEqualValuesTogether) {
  const auto area = [](const CellMap& map) {
    const Field field = sample(map, whole({10, 10}), {10, 10}, Upsampling::nearest);
    const float threshold = top_threshold(field, 0.2);
    return std::count_if(field.values.begin(), field.values.end(),
                         [&](float value) { return value >= threshold; });
  };
  EXPECT_EQ(area({1, 5, {5, 1, 2, 3, 4}}), 20);
  EXPECT_EQ(area({1, 5, {5, 1, 5, 3, 4}}), 40);
  EXPECT_EQ(area({1, 10, {9, 1, 2, 3, 4, 5, 6, 7, 8, 0}}), 20);
  EXPECT_EQ(area({1, 2, {0, 1}}), 50);
}

TEST(CellMap, TopPartCountsOnlyWhatWasSeen) {
  // The right half of the photo lies outside of the crop.
  const image::Size photo{20, 10};
  const image::View view({photo, 0, 0, {10, 10}}, photo, photo, 1);
  const Field field = sample({1, 5, {1, 2, 3, 4, 5}}, view, photo, Upsampling::nearest);
  EXPECT_EQ(top_threshold(field, 0.2), 5);
  EXPECT_FALSE(field.seen(10, 0));
  EXPECT_TRUE(field.seen(9, 9));
  Field none = field;
  std::fill(none.seen_rows.begin(), none.seen_rows.end(), 0);
  EXPECT_EQ(top_threshold(none, 0.2), std::numeric_limits<float>::infinity());
}

}  // namespace
}  // namespace vitascope::drawing
