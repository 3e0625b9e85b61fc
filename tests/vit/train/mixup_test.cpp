#include "vit/train/mixup.h"

#include <ATen/ATen.h>
#include <gmock/gmock.h>

#include "tests/vit/train/golden_training.h"
#include "vit/error.h"
#include "vit/train/loss.h"

namespace vitascope::train {
namespace {

/// What timm gives for 3 pictures.
class GoldenMix : public testing::Test {
 protected:
  void expect(const Json& expected, const Mix& mix) {
    EXPECT_LE(tests::relative_error(mix_pixels(pixels, mix).flatten(),
                                    tests::tensor_of(expected.at("pixels"))),
              1e-12);
    // timm's targets are float32.
    EXPECT_LE(tests::relative_error(mix_targets(targets, mix).flatten(),
                                    tests::tensor_of(expected.at("targets"))),
              1e-7);
  }

  const Json& golden = tests::golden_training().at("mixing");
  const at::Tensor pixels = tests::tensor_of(golden.at("pixels"))
                                .view(golden.at("shape").get<std::vector<std::int64_t>>());
  const at::Tensor targets = targets_of(std::vector<std::vector<std::int64_t>>{{2}, {0}, {1}}, 3);
};

TEST_F(GoldenMix, Mixup) {
  expect(golden.at("mixup"), {.lambda = golden.at("mixup").at("lambda")});
}

TEST_F(GoldenMix, CutMix) {
  const auto box = golden.at("cutmix").at("box").get<std::vector<std::int64_t>>();
  const at::Tensor before = pixels.clone();
  expect(golden.at("cutmix"), {.lambda = golden.at("cutmix").at("lambda"),
                               .box = PixelBox{box[0], box[1], box[2], box[3]}});
  EXPECT_TRUE(at::equal(pixels, before));
}

TEST(Mixup, LambdaIsDrawnFromItsBetaDistribution) {
  RandomNumbers random(1);
  constexpr int kDraws = 50000;
  double sum = 0;
  double squares = 0;
  for (int i = 0; i < kDraws; ++i) {
    const Mix mix = draw_mix({.mixup_alpha = .8}, 10, 10, random);
    EXPECT_FALSE(mix.box.has_value());
    sum += mix.lambda;
    squares += mix.lambda * mix.lambda;
  }
  // Variance of Beta(a, a): 1 / (4 (2 a + 1)).
  EXPECT_NEAR(sum / kDraws, .5, .01);
  EXPECT_NEAR(squares / kDraws - .25, 1 / (4 * 2.6), .01);
}

TEST(Mixup, LambdaOfCutMixIsWhatTheBoxLeaves) {
  RandomNumbers random(2);
  double inside = 0;
  for (int i = 0; i < 20000; ++i) {
    const Mix mix = draw_mix({.cutmix_alpha = 1}, 30, 20, random);
    ASSERT_TRUE(mix.box.has_value());
    const auto& [top, left, bottom, right] = *mix.box;
    ASSERT_TRUE(0 <= top && top <= bottom && bottom <= 30);
    ASSERT_TRUE(0 <= left && left <= right && right <= 20);
    const auto area = static_cast<double>((bottom - top) * (right - left));
    ASSERT_NEAR(mix.lambda, 1 - area / 600, 1e-12);
    inside += top <= 0 || left <= 0 || bottom >= 30 || right >= 20 ? 0 : 1;
  }
  // Of a uniform centre and a uniform share of the area a sixth stays off the border:
  // the integral of (1 - sqrt(s))^2 over s is 1/6; rounding to pixels keeps it near.
  EXPECT_NEAR(inside / 20000, 1. / 6, .02);
}

TEST(Mixup, KindsAndProbabilitiesAreRespected) {
  RandomNumbers random(3);
  int cut = 0;
  int none = 0;
  for (int i = 0; i < 10000; ++i) {
    const Mix mix = draw_mix(
        {.mixup_alpha = 1, .cutmix_alpha = 1, .probability = .8, .cutmix_probability = .25}, 1000,
        1000, random);
    cut += mix.box.has_value();
    none += !mix.box && mix.lambda == 1;
  }
  EXPECT_NEAR(cut / 10000., .2, .02);
  EXPECT_NEAR(none / 10000., .2, .02);
  EXPECT_EQ(draw_mix({}, 10, 10, random).lambda, 1);
}

TEST(Mixup, DependsOnTheStateOfRandomNumbersAlone) {
  RandomNumbers random(4);
  random.uniform();
  RandomNumbers other(0);
  other.restore(random.state());
  const MixOptions options{.mixup_alpha = .8, .cutmix_alpha = 1};
  for (int i = 0; i < 50; ++i) {
    EXPECT_EQ(draw_mix(options, 9, 9, random).lambda, draw_mix(options, 9, 9, other).lambda);
  }
}

TEST(Mixup, NothingMixedIsTheSameTensor) {
  const at::Tensor pixels = at::rand({2, 3, 4, 4});
  EXPECT_TRUE(mix_pixels(pixels, {}).is_same(pixels));
  EXPECT_TRUE(mix_targets(pixels, {}).is_same(pixels));
}

TEST(Mixup, RefusesOptionsOutOfRange) {
  for (const MixOptions& wrong :
       {MixOptions{.mixup_alpha = -1}, MixOptions{.cutmix_alpha = -1},
        MixOptions{.probability = 1.5}, MixOptions{.cutmix_probability = -.5}}) {
    EXPECT_THROW(validate(wrong), UsageError);
  }
}

}  // namespace
}  // namespace vitascope::train
