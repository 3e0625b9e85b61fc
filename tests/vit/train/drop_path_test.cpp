#include "vit/train/drop_path.h"

#include <ATen/ATen.h>
#include <gmock/gmock.h>

#include "tests/vit/train/golden_training.h"
#include "vit/error.h"

namespace vitascope::train {
namespace {

using testing::DoubleNear;
using testing::Each;
using testing::Pointwise;

using Numbers = std::vector<double>;

TEST(DropPath, RatesAreTheGoldenOnes) {
  const Json golden = tests::golden_json("schedules").at("drop_path");
  EXPECT_THAT(drop_path_rates(golden.at("depth"), golden.at("rate")),
              Pointwise(DoubleNear(1e-12), golden.at("timm_linspace").get<Numbers>()));
  EXPECT_THAT(drop_path_rates(1, .5), testing::ElementsAre(0));
  EXPECT_THAT(drop_path_rates(4, 0), Each(0));
}

TEST(DropPath, KeptBranchesAreScaledAsInTheGoldenExample) {
  const Json example = tests::golden_json("schedules").at("drop_path").at("example");
  RandomNumbers random(1);
  const at::Tensor scales = drop_path_scales(1000, example.at("drop_prob"), random);
  const double kept = scales.max().item<double>();
  for (std::size_t row = 0; row < 4; ++row) {
    const double keep = example.at("keep_per_sample").at(row);
    const at::Tensor x = tests::tensor_of(example.at("x").at(row));
    EXPECT_LE(
        tests::relative_error(x * keep * kept, tests::tensor_of(example.at("out_scaled").at(row))),
        1e-7);
  }
  EXPECT_EQ((scales == 0).logical_or(scales == kept).sum().item<int>(), 1000);
}

TEST(DropPath, LeavesOutTheGivenShareAndKeepsTheMean) {
  RandomNumbers random(2);
  const at::Tensor scales = drop_path_scales(100000, .3, random);
  EXPECT_NEAR((scales == 0).to(at::kDouble).mean().item<double>(), .3, .01);
  EXPECT_NEAR(scales.mean().item<double>(), 1, .01);
  EXPECT_TRUE((drop_path_scales(100, 0, random) == 1).all().item<bool>());
}

TEST(DropPath, RefusesARateOutOfRange) {
  EXPECT_THROW(drop_path_rates(12, 1), UsageError);
  EXPECT_THROW(drop_path_rates(12, -.1), UsageError);
}

}  // namespace
}  // namespace vitascope::train
