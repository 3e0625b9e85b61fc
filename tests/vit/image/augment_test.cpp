#include "vit/image/augment.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include "tests/vit/image/noise.h"
#include "vit/error.h"
#include "vit/image/preprocess.h"

namespace vitascope::image {
namespace {

Specification small() {
  Specification specification;
  specification.size = {24, 16};
  return specification;
}

Augmentation everything() {
  Augmentation augmentation;
  augmentation.policy = Policy::rand_augment;
  augmentation.brightness = augmentation.contrast = augmentation.saturation = 0.4;
  augmentation.hue = 0.1;
  augmentation.erase = 0.5;
  return augmentation;
}

at::Tensor augmented(const Augmentation& augmentation, std::uint64_t sample) {
  const Picture picture = tests::noise_picture({64, 48});
  RandomStream random = RandomStream::of(1, 2, sample);
  const auto part = draw_part(picture.size, augmentation, random);
  return augment(picture, part, augmentation, small(), random);
}

TEST(Augment, HasTheModelsSizeAndDependsOnTheStreamAlone) {
  for (std::uint64_t sample = 0; sample < 30; ++sample) {
    const at::Tensor pixels = augmented(everything(), sample);
    EXPECT_EQ(pixels.sizes(), (at::IntArrayRef{3, 16, 24}));
    EXPECT_TRUE(at::isfinite(pixels).all().item<bool>());
    EXPECT_TRUE(at::equal(pixels, augmented(everything(), sample)));
    EXPECT_FALSE(at::equal(pixels, augmented(everything(), sample + 1)));
  }
}

TEST(Augment, WithNothingToDoIsThePreparedPicture) {
  Augmentation nothing;
  nothing.crop.reset();
  nothing.flip = 0;
  EXPECT_TRUE(
      at::equal(augmented(nothing, 0), prepare(tests::noise_picture({64, 48}), small()).pixels));
  nothing.flip = 1;
  EXPECT_TRUE(at::equal(augmented(nothing, 0),
                        prepare(tests::noise_picture({64, 48}), small()).pixels.flip(2)));
}

TEST(Augment, ACropNeedsASize) {
  Specification specification = small();
  specification.resize = ResizeMode::none;
  RandomStream random(1);
  EXPECT_THROW(
      augment(tests::noise_picture({64, 48}), Region{0, 0, {9, 9}}, {}, specification, random),
      UsageError);
}

TEST(RandomErase, ErasesOneRectangleAndNothingElse) {
  for (const EraseWith with : {EraseWith::zero, EraseWith::colour, EraseWith::noise})
    for (std::uint64_t sample = 0; sample < 50; ++sample) {
      at::Tensor pixels = at::full({3, 40, 60}, 7.0f);
      RandomStream random = RandomStream::of(1, 1, sample);
      const auto region = random_erase(pixels, with, random);
      ASSERT_TRUE(region);
      const double share = double(region->size.width) * region->size.height / (40 * 60);
      // 0.02 to 1/3, each side rounded by half a pixel at most.
      EXPECT_GT(share, 0.015);
      EXPECT_LT(share, 1.0 / 3 + 0.5 * (40 + 60) / (40 * 60));
      const at::Tensor inside = pixels.slice(1, region->top, region->top + region->size.height)
                                    .slice(2, region->left, region->left + region->size.width);
      EXPECT_EQ((pixels == 7).sum().item<std::int64_t>(), 3 * 40 * 60 - inside.numel());
      if (with == EraseWith::zero) {
        EXPECT_EQ(inside.abs().max().item<float>(), 0);
      }
      if (with == EraseWith::colour) {
        EXPECT_TRUE(at::equal(inside, inside.slice(1, 0, 1).slice(2, 0, 1).expand_as(inside)));
      }
    }
}

}  // namespace
}  // namespace vitascope::image
