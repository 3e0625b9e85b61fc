#include "vit/image/resample_coefficients.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <numeric>

#include "vit/error.h"

namespace vitascope::image {
namespace {

using ::testing::ElementsAre;

TEST(ResampleCoefficients, HalvesWithTwoTapsOfABox) {
  const Coefficients c = resample_coefficients(8, 4, 1, 3, Filter::box);
  EXPECT_THAT(c.first, ElementsAre(2, 4));
  EXPECT_THAT(c.count, ElementsAre(2, 2));
  EXPECT_EQ(c.stride % 4, 0);
  EXPECT_EQ(c.weight[0], 1 << (kWeightBits - 1));
  EXPECT_EQ(c.weight[1], 1 << (kWeightBits - 1));
  EXPECT_EQ(c.weight[2], 0);
}

TEST(ResampleCoefficients, SumToOneAndStayInside) {
  for (const Filter filter :
       {Filter::lanczos, Filter::bilinear, Filter::bicubic, Filter::box, Filter::hamming})
    for (const auto& [from, to] : {std::pair{1, 9}, {9, 1}, {100, 33}, {33, 100}, {4000, 7}}) {
      const Coefficients c = resample_coefficients(from, to, 0, to, filter);
      for (int i = 0; i < to; ++i) {
        ASSERT_GT(c.count[i], 0);
        EXPECT_GE(c.first[i], 0);
        EXPECT_LE(c.first[i] + c.count[i], from);
        EXPECT_LE(c.count[i], c.stride);
        const auto begin = c.weight.begin() + static_cast<std::ptrdiff_t>(i) * c.stride;
        const std::int64_t sum = std::accumulate(begin, begin + c.stride, std::int64_t{0});
        EXPECT_NEAR(static_cast<double>(sum), 1 << kWeightBits, c.count[i]);  // a rounding a tap
      }
    }
}

TEST(ResampleCoefficients, KnowNothingOfNearest) {
  EXPECT_THROW(resample_coefficients(8, 4, 0, 4, Filter::nearest), InternalError);
}

}  // namespace
}  // namespace vitascope::image
