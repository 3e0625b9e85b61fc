#include "app/time_estimate.h"

#include <gtest/gtest.h>

namespace vitascope::app {
namespace {

TEST(TimeEstimate, KnowsNothingBeforeSomethingWasMeasured) {
  const TimeEstimate estimate({.epochs = 2, .photos = 100, .validation = 30}, 0, 0);
  EXPECT_FALSE(estimate.rate());
  EXPECT_FALSE(estimate.left());
  EXPECT_EQ(estimate.text(), "epoch 1/2, 0/100 photos");
}

TEST(TimeEstimate, CountsValidationToo) {
  TimeEstimate estimate({.epochs = 2, .photos = 100, .validation = 30}, 0, 0);
  estimate.trained(10, 20);
  EXPECT_DOUBLE_EQ(*estimate.rate(), 0.5);
  estimate.trained(10, 5);  // the first time was slower than all others will be
  EXPECT_DOUBLE_EQ(*estimate.rate(), 2);
  // 180 photos at 2 a second, and twice 30 photos of validation at 6 a second.
  EXPECT_DOUBLE_EQ(*estimate.left(), 90 + 2 * 5);
  EXPECT_EQ(estimate.text(), "epoch 1/2, 20/100 photos, 2.0 photos/s, 2 min left");
  estimate.trained(80, 40);
  estimate.ended_epoch(12);
  EXPECT_DOUBLE_EQ(*estimate.left(), 50 + 12);
  estimate.paused(3);
  EXPECT_DOUBLE_EQ(*estimate.left(), 50 + 15);
  EXPECT_EQ(estimate.first_estimate(), "about 65 s for 1 epoch, at 2.0 photos/s");
}

TEST(TimeEstimate, GoesOnInTheMiddleOfAnEpoch) {
  TimeEstimate estimate({.epochs = 3, .photos = 40, .validation = 0}, 2, 30);
  EXPECT_EQ(estimate.done(), 110);
  EXPECT_EQ(estimate.total(), 120);
  estimate.trained(2, 8);
  EXPECT_DOUBLE_EQ(*estimate.left(), 32);
  EXPECT_EQ(estimate.text(), "epoch 3/3, 32/40 photos, 4.0 s a photo, 32 s left");
}

TEST(TimeEstimate, ALastSmallBatchIsNoMoreThanTheEpoch) {
  TimeEstimate estimate({.epochs = 1, .photos = 10, .validation = 0}, 0, 0);
  estimate.trained(8, 1);
  estimate.trained(8, 1);
  EXPECT_EQ(estimate.done(), 10);
  EXPECT_DOUBLE_EQ(*estimate.left(), 0);
}

}  // namespace
}  // namespace vitascope::app
