#include "vit/explain/pointing.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <stdexcept>

namespace vitascope::explain {
namespace {

/// A photo of 80 x 40 pixels squashed to 16 x 16: cells of a 2 x 2 grid are 40 x 20 pixels.
image::View squashed() {
  image::Specification specification;
  specification.size = {16, 16};
  const image::Size picture{80, 40};
  return image::View(image::geometry(specification, picture), picture, picture, 1);
}

/// A photo of 80 x 40 pixels of which a centre crop shows columns 20 to 60.
image::View cropped() {
  image::Specification specification;
  specification.resize = image::ResizeMode::shortest_edge;
  specification.edge = 16;
  specification.crop = image::Size{16, 16};
  const image::Size picture{80, 40};
  return image::View(image::geometry(specification, picture), picture, picture, 1);
}

at::Tensor mask_of(int top, int left, int bottom, int right) {
  const at::Tensor mask = at::zeros({40, 80}, at::kBool);
  mask.slice(0, top, bottom).slice(1, left, right).fill_(true);
  return mask;
}

at::Tensor map_of(double a, double b, double c, double d) {
  return at::tensor({a, b, c, d}).view({2, 2});
}

TEST(Pointing, AMapOnTheObjectAlone) {
  const auto result = pointing(map_of(0, 0, 0, 3), squashed(), mask_of(20, 40, 40, 80));
  ASSERT_TRUE(result);
  EXPECT_TRUE(result->hit);
  EXPECT_NEAR(*result->energy, 1, 1e-12);
  EXPECT_NEAR(result->iou, 1, 1e-12);
}

TEST(Pointing, RowsAndColumnsAreNotTurned) {
  // The object fills the lower left cell; the map points to the upper right one.
  const auto result = pointing(map_of(0, 3, 0, 0), squashed(), mask_of(20, 0, 40, 40));
  EXPECT_FALSE(result->hit);
  EXPECT_EQ(*result->energy, 0);
  EXPECT_EQ(result->iou, 0);
}

TEST(Pointing, CountsPartsOfCells) {
  // Columns 30 to 50 of the upper half: a quarter of each upper cell, 400 pixels in all.
  const auto result = pointing(map_of(4, 1, 2, 1), squashed(), mask_of(0, 30, 20, 50));
  EXPECT_NEAR(*result->energy, (4 * .25 + 1 * .25) / 8, 1e-12);
  // Only the first cell, 800 pixels, is above the mean of 2; 200 of them are the object's.
  EXPECT_NEAR(result->iou, 200. / (800 + 400 - 200), 1e-12);
}

TEST(Pointing, EnergyLeavesNegativeValuesOut) {
  const auto result = pointing(map_of(3, -5, 1, -9), squashed(), mask_of(0, 0, 20, 40));
  EXPECT_NEAR(*result->energy, .75, 1e-12);
  EXPECT_FALSE(pointing(map_of(0, -5, 0, -9), squashed(), mask_of(0, 0, 20, 40))->energy);
}

TEST(Pointing, HitsWithinTheTolerance) {
  // The centre of the upper left cell is (20, 10). The nearest pixel's centre is (34.5, 10.5).
  const at::Tensor mask = mask_of(0, 34, 40, 80);
  EXPECT_TRUE(pointing(map_of(1, 0, 0, 0), squashed(), mask)->hit);
  EXPECT_TRUE(pointing(map_of(1, 0, 0, 0), squashed(), mask, 14.6)->hit);
  EXPECT_FALSE(pointing(map_of(1, 0, 0, 0), squashed(), mask, 14.4)->hit);
  EXPECT_FALSE(pointing(map_of(1, 0, 0, 0), squashed(), mask, 0)->hit);
  // It is a circle: (30.5, 20.5) is 10.5 away both ways, 14.8 in all.
  EXPECT_TRUE(pointing(map_of(1, 0, 0, 0), squashed(), mask_of(20, 30, 40, 80), 15)->hit);
  EXPECT_FALSE(pointing(map_of(1, 0, 0, 0), squashed(), mask_of(20, 30, 40, 80), 14.5)->hit);
}

TEST(Pointing, WithoutToleranceThePixelItselfCounts) {
  EXPECT_TRUE(pointing(map_of(1, 0, 0, 0), squashed(), mask_of(10, 20, 11, 21), 0)->hit);
  EXPECT_FALSE(pointing(map_of(1, 0, 0, 0), squashed(), mask_of(10, 21, 11, 22), 0)->hit);
}

TEST(Pointing, FollowsTheCrop) {
  // Cells are 20 x 20 from column 20 on: the upper right one is columns 40 to 60.
  const auto result = pointing(map_of(0, 1, 0, 0), cropped(), mask_of(0, 40, 20, 60), 0);
  EXPECT_TRUE(result->hit);
  EXPECT_NEAR(*result->energy, 1, 1e-12);
  EXPECT_NEAR(result->iou, 1, 1e-12);
  // What lies outside the crop doesn't count.
  const auto wide = pointing(map_of(0, 1, 0, 0), cropped(), mask_of(0, 40, 20, 80), 0);
  EXPECT_NEAR(wide->iou, 1, 1e-12);
}

TEST(Pointing, SaysNothingOfAnObjectThatWasCutAway) {
  EXPECT_FALSE(pointing(map_of(0, 1, 0, 0), cropped(), mask_of(0, 60, 40, 80)));
  EXPECT_FALSE(pointing(map_of(0, 1, 0, 0), squashed(), mask_of(0, 0, 0, 0)));
}

TEST(Pointing, LeavesPaddingOutOfTheUnion) {
  // A photo of 8 x 16 inside a crop of 16 x 16 that is padded with 4 columns at each side.
  image::Specification specification;
  specification.resize = image::ResizeMode::none;
  specification.crop = image::Size{16, 16};
  const image::Size picture{8, 16};
  const image::View view(image::geometry(specification, picture), picture, picture, 1);
  const at::Tensor mask = at::zeros({16, 8}, at::kBool);
  mask.slice(1, 0, 4).fill_(true);
  // The left cells reach from -4 to 4; half of each is photo, and all of that is object.
  const auto result = pointing(map_of(1, 0, 1, 0), view, mask, 0);
  EXPECT_NEAR(result->iou, 1, 1e-12);
  EXPECT_NEAR(*result->energy, .5, 1e-12);
}

TEST(Pointing, AFlatMapPointsToItsFirstCellAndCoversNothing) {
  const auto result = pointing(map_of(1, 1, 1, 1), squashed(), mask_of(0, 0, 20, 40));
  EXPECT_TRUE(result->hit);
  EXPECT_NEAR(*result->energy, .25, 1e-12);
  EXPECT_EQ(result->iou, 0);
}

TEST(Pointing, RefusesAMaskOfAnotherSize) {
  EXPECT_THROW(pointing(map_of(1, 0, 0, 0), squashed(), at::zeros({80, 40}, at::kBool)),
               std::invalid_argument);
}

TEST(CoveredParts, AreThePartOfEachCell) {
  // Columns 30 to 50 of the upper half: a quarter of each upper cell; all of the lower left one.
  const at::Tensor mask = mask_of(0, 30, 20, 50).logical_or(mask_of(20, 0, 40, 40));
  EXPECT_TRUE(at::allclose(covered_parts(mask, squashed(), 2, 2),
                           at::tensor({.25, .25, 1., 0.}, at::kDouble).view({2, 2})));
  // The crop shows columns 20 to 60 alone.
  EXPECT_TRUE(at::allclose(covered_parts(mask_of(0, 0, 20, 30), cropped(), 2, 2),
                           at::tensor({.5, 0., 0., 0.}, at::kDouble).view({2, 2})));
  EXPECT_THROW(covered_parts(at::zeros({40, 81}, at::kBool), squashed(), 2, 2),
               std::invalid_argument);
}

}  // namespace
}  // namespace vitascope::explain
