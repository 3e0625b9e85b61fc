#include "app/drawing/ticks.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

namespace vitascope::drawing {
namespace {

using ::testing::Pointwise;

void expect_ticks(Range range, int most, const std::vector<double>& expected) {
  EXPECT_THAT(round_ticks(range, most).values, Pointwise(::testing::DoubleNear(1e-9), expected));
}

TEST(Ticks, AreMultiplesOfOneTwoOrFive) {
  expect_ticks({0, 1}, 6, {0, .2, .4, .6, .8, 1});
  expect_ticks({0, 1}, 5, {0, .5, 1});
  expect_ticks({0, 1}, 11, {0, .1, .2, .3, .4, .5, .6, .7, .8, .9, 1});
  expect_ticks({0, 100}, 6, {0, 20, 40, 60, 80, 100});
  expect_ticks({-3, 7.5}, 4, {0, 5});
  expect_ticks({-3, 7.5}, 6, {-2, 0, 2, 4, 6});
  expect_ticks({0.0012, 0.0197}, 5, {.005, .01, .015});
}

TEST(Ticks, AreNeverMoreThanAsked) {
  for (int most = 2; most < 12; ++most) {
    for (const Range range : {Range{0, 1}, Range{-.3, 17}, Range{1e-9, 4e-9}, Range{99, 101.5}}) {
      const Ticks ticks = round_ticks(range, most);
      EXPECT_LE(static_cast<int>(ticks.values.size()), most);
      for (const double value : ticks.values) {
        EXPECT_GE(value, range.low - 1e-9 * ticks.step);
        EXPECT_LE(value, range.high + 1e-9 * ticks.step);
      }
    }
  }
}

TEST(Ticks, OfARangeWithoutLengthAreThatValue) {
  expect_ticks({4, 4}, 5, {4});
  expect_ticks({4, std::numeric_limits<double>::infinity()}, 5, {4});
}

TEST(Ticks, CarryTheDecimalsOfTheirStep) {
  EXPECT_EQ(tick_label(0.2, 0.2), "0.2");
  EXPECT_EQ(tick_label(3 * 0.1, 0.1), "0.3");
  EXPECT_EQ(tick_label(1, 0.5), "1.0");
  EXPECT_EQ(tick_label(40, 20), "40");
  EXPECT_EQ(tick_label(0.005, 0.005), "0.005");
  EXPECT_EQ(tick_label(-1e-17, 0.1), "0");
  EXPECT_EQ(tick_label(2e-7, 1e-7), "2e-07");
  EXPECT_EQ(tick_label(3000000, 1000000), "3e+06");
  EXPECT_EQ(short_number(0.0123456), "0.0123");
}

}  // namespace
}  // namespace vitascope::drawing
