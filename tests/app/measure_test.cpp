#include "app/measure.h"

#include <gtest/gtest.h>

#include <cstring>
#include <memory>

#include "vit/error.h"

namespace vitascope::app {
namespace {

// NumPy's percentile([7, 1, 3, 10, 2], [0, 25, 50, 75, 100]).
TEST(Spread, InterpolatesQuantilesLinearly) {
  const Spread odd = spread({7, 1, 3, 10, 2});
  EXPECT_DOUBLE_EQ(odd.min, 1);
  EXPECT_DOUBLE_EQ(odd.lower_quartile, 2);
  EXPECT_DOUBLE_EQ(odd.median, 3);
  EXPECT_DOUBLE_EQ(odd.upper_quartile, 7);
  EXPECT_DOUBLE_EQ(odd.max, 10);
  const Spread even = spread({4, 1, 3, 2});
  EXPECT_DOUBLE_EQ(even.lower_quartile, 1.75);
  EXPECT_DOUBLE_EQ(even.median, 2.5);
  EXPECT_DOUBLE_EQ(even.upper_quartile, 3.25);
}

TEST(Spread, OfOneValueIsThatValue) {
  const Spread one = spread({5});
  EXPECT_DOUBLE_EQ(one.min, 5);
  EXPECT_DOUBLE_EQ(one.median, 5);
  EXPECT_DOUBLE_EQ(one.max, 5);
}

TEST(Spread, RefusesNothing) { EXPECT_THROW(spread({}), InternalError); }

TEST(OperationCount, PicksTheUnit) {
  EXPECT_EQ(operation_count(17.58e9), "17.6 GFLOP");
  EXPECT_EQ(operation_count(1.451e6), "1.5 MFLOP");
  EXPECT_EQ(operation_count(999.96e6), "1.0 GFLOP");
  EXPECT_EQ(operation_count(12), "0.0 kFLOP");
  EXPECT_EQ(operation_count(4.2e15), "4200.0 TFLOP");
}

TEST(PeakMemory, SeesMemoryThatIsTouched) {
  constexpr std::size_t size = 200u << 20;
  reset_peak_memory();
  const std::int64_t before = peak_memory();
  ASSERT_GT(before, 0);
  {
    // Not a vector: it would be allowed to be optimised away less visibly.
    const auto block = std::make_unique<volatile char[]>(size);
    for (std::size_t i = 0; i < size; i += 4096) block[i] = 1;
  }
  EXPECT_GT(peak_memory(), before + std::int64_t(size) * 9 / 10);
}

}  // namespace
}  // namespace vitascope::app
