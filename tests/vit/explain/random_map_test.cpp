#include "vit/explain/random_map.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

namespace vitascope::explain {
namespace {

TEST(RandomMap, IsUniformAndFollowsItsSeedAlone) {
  const at::Tensor map = random_map({40, 50}, 3).values;
  EXPECT_EQ(map.sizes(), (std::vector<std::int64_t>{40, 50}));
  EXPECT_NEAR(map.mean().item<double>(), 0.5, 0.03);
  EXPECT_NEAR(map.std().item<double>(), std::sqrt(1.0 / 12), 0.02);
  EXPECT_GE(map.min().item<double>(), 0);
  EXPECT_LT(map.max().item<double>(), 1);
  EXPECT_TRUE(at::equal(map, random_map({40, 50}, 3).values));
  EXPECT_FALSE(at::equal(map, random_map({40, 50}, 4).values));
}

}  // namespace
}  // namespace vitascope::explain
