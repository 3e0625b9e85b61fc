#include "app/drawing/plot_area.h"

#include <gtest/gtest.h>

namespace vitascope::drawing {
namespace {

TEST(Scale, OfAnAxisThatCountsHasWholeNumbersOnly) {
  const Axis epochs{.label = "epoch", .range = Range{1, 3}, .whole = true};
  EXPECT_EQ(make_scale(epochs, {}, 8).ticks.values, (std::vector<double>{1, 2, 3}));
  const Axis any{.label = "epoch", .range = Range{1, 3}};
  EXPECT_GT(make_scale(any, {}, 8).ticks.values.size(), 3u);
  const Axis one{.label = "epoch", .whole = true};
  EXPECT_EQ(make_scale(one, {1, 1}, 8).ticks.values, (std::vector<double>{1}));
}

}  // namespace
}  // namespace vitascope::drawing
