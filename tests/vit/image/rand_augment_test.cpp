#include "vit/image/rand_augment.h"

#include <gtest/gtest.h>

#include <set>

#include "tests/vit/image/augment_golden.h"
#include "vit/image/blur.h"
#include "vit/image/colour.h"

namespace vitascope::image {
namespace {

constexpr const char* kNames[kOperations] = {
    "identity",  "shear_x",    "shear_y",          "translate_x", "translate_y",
    "rotate",    "brightness", "saturation",       "contrast",    "sharpness",
    "posterize", "solarize",   "stretch_contrast", "equalize"};

Operation operation_of(const std::string& name) {
  for (int i = 0; i < kOperations; ++i)
    if (name == kNames[i]) return static_cast<Operation>(i);
  throw std::invalid_argument(name);
}

TEST(RandAugment, OperationsGiveTheBytesOfTorchvision) {
  const auto fill = tests::augmented("fill").get<std::array<std::uint8_t, 3>>();
  const Json cases = tests::augmented("policy");
  EXPECT_GT(cases.size(), 200u);
  for (const Json& entry : cases) {
    const Operation operation = operation_of(entry.at("operation"));
    const Sampling sampling =
        entry.at("sampling") == "nearest" ? Sampling::nearest : Sampling::bilinear;
    Picture picture = tests::picture_of(entry);
    const double strength = entry.at("strength").get<double>();
    // torchvision's table is in float32.
    EXPECT_NEAR(operation_strength(operation, entry.at("bin").get<double>(), picture.size),
                strength, 2e-5)
        << entry;
    apply_operation(picture, operation, strength * entry.at("sign").get<int>(), {sampling, fill});
    EXPECT_EQ(tests::crc_of(picture), entry.at("crc32").get<std::uint32_t>()) << entry;
  }
}

TEST(RandAugment, DependsOnTheStreamAlone) {
  const Picture picture = tests::noise_picture({20, 15});
  std::set<std::uint32_t> results;
  for (std::uint64_t sample = 0; sample < 20; ++sample) {
    Picture first = picture;
    Picture second = picture;
    RandomStream a = RandomStream::of(1, 2, sample);
    RandomStream b = RandomStream::of(1, 2, sample);
    rand_augment(first, 2, 9, {}, a);
    rand_augment(second, 2, 9, {}, b);
    EXPECT_EQ(first.rgb, second.rgb);
    EXPECT_EQ(a.state(), b.state());
    results.insert(tests::crc_of(first));
  }
  EXPECT_GT(results.size(), 10u);
}

TEST(ThreeAugment, IsGraySolarizedOrBlurred) {
  const Picture picture = tests::noise_picture({20, 15});
  Picture gray = picture;
  Picture solar = picture;
  to_gray(gray);
  solarize(solar, 128);
  int grays = 0;
  int solars = 0;
  for (std::uint64_t sample = 0; sample < 300; ++sample) {
    Picture changed = picture;
    RandomStream random = RandomStream::of(5, 0, sample);
    three_augment(changed, random);
    EXPECT_NE(changed.rgb, picture.rgb);
    grays += changed.rgb == gray.rgb ? 1 : 0;
    solars += changed.rgb == solar.rgb ? 1 : 0;
  }
  EXPECT_NEAR(grays, 100, 30);
  EXPECT_NEAR(solars, 100, 30);
}

}  // namespace
}  // namespace vitascope::image
