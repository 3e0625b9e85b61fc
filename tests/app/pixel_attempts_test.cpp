#include "app/pixel_attempts.h"

#include <ATen/ATen.h>
#include <gmock/gmock.h>

#include <numeric>

namespace vitascope::app {
namespace {

using image::Picture;
using image::Specification;
using testing::Contains;
using testing::Each;
using testing::ElementsAre;
using testing::Not;

Picture picture(int width, int height) {
  Picture result;
  result.size = result.stored = {width, height};
  result.rgb.resize(std::size_t(width) * std::size_t(height) * 3);
  std::iota(result.rgb.begin(), result.rgb.end(), std::uint8_t(0));
  return result;
}

std::vector<std::string> names(const std::vector<Attempt>& attempts) {
  std::vector<std::string> result;
  for (const Attempt& attempt : attempts) {
    for (const Cause& cause : attempt.causes) result.push_back(cause.name);
  }
  return result;
}

Specification cropped(int edge, int crop) {
  Specification specification;
  specification.resize = image::ResizeMode::shortest_edge;
  specification.edge = edge;
  specification.filter = image::Filter::bicubic;
  specification.crop = image::Size{crop, crop};
  return specification;
}

TEST(Attempts, AllHaveTheSizeOfTheInput) {
  const Picture photo = picture(60, 45);
  const Specification specification = cropped(20, 15);
  for (const Attempt& attempt : attempts(photo, specification)) {
    const at::Tensor levels = attempt.levels();
    EXPECT_THAT(levels.sizes().vec(), ElementsAre(3, 15, 15)) << attempt.causes[0].text;
    EXPECT_EQ(levels.scalar_type(), at::kFloat) << attempt.causes[0].text;
  }
}

TEST(Attempts, CoverTheCausesOfACroppedPhoto) {
  const Picture photo = picture(60, 45);
  const auto found = names(attempts(photo, cropped(20, 15)));
  for (const char* name : {"torchvision", "float_resampling", "antialias", "crop_rounding",
                           "crop_shift", "filter", "resize", "orientation"}) {
    EXPECT_THAT(found, Contains(name));
  }
}

TEST(Attempts, LeaveOutResamplingWhereNothingIsResized) {
  const Picture photo = picture(32, 32);
  Specification specification;
  specification.size = {32, 32};
  const auto found = names(attempts(photo, specification));
  for (const char* name : {"torchvision", "float_resampling", "antialias", "filter"}) {
    EXPECT_THAT(found, Not(Contains(name)));
  }
  EXPECT_THAT(found, Contains("orientation"));
}

TEST(Attempts, LeaveOutCropRoundingWhereTheMarginIsEven) {
  const Picture photo = picture(40, 40);
  EXPECT_THAT(names(attempts(photo, cropped(20, 16))), Not(Contains("crop_rounding")));
  EXPECT_THAT(names(attempts(photo, cropped(20, 16))), Contains("crop_shift"));
}

TEST(Attempts, ShiftsMoveTheCropByOnePixel) {
  const Picture photo = picture(10, 10);
  Specification specification;
  specification.resize = image::ResizeMode::none;
  specification.crop = image::Size{6, 6};
  const at::Tensor whole = levels_of(photo);
  std::vector<std::pair<int, int>> seen;
  for (const Attempt& attempt : attempts(photo, specification)) {
    if (attempt.causes[0].name != "crop_shift") continue;
    for (int top = 1; top <= 3; ++top) {
      for (int left = 1; left <= 3; ++left) {
        const at::Tensor part = whole.slice(1, top, top + 6).slice(2, left, left + 6);
        if (at::equal(part, attempt.levels())) seen.emplace_back(top, left);
      }
    }
  }
  EXPECT_EQ(seen.size(), 8u);
  EXPECT_THAT(seen, Not(Contains(std::pair(2, 2))));
}

TEST(LevelsOf, PutsChannelsFirst) {
  Picture photo = picture(2, 1);  // 0 1 2, 3 4 5
  EXPECT_TRUE(
      at::equal(levels_of(photo), at::tensor({0.f, 3.f, 1.f, 4.f, 2.f, 5.f}).view({3, 1, 2})));
}

}  // namespace
}  // namespace vitascope::app
