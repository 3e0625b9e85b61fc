#include "vit/image/colour.h"

#include <gtest/gtest.h>

#include <functional>
#include <map>

#include "tests/vit/image/augment_golden.h"
#include "vit/image/blur.h"

namespace vitascope::image {
namespace {

TEST(Colour, GivesTheBytesOfPillowAndTorchvision) {
  const std::map<std::string, std::function<void(Picture&, double)>> functions{
      {"hue", adjust_hue},
      {"blur", gaussian_blur},
      {"brightness", adjust_brightness},
      {"contrast", adjust_contrast},
      {"saturation", adjust_saturation},
      {"flip", [](Picture& picture, double) { flip_horizontally(picture); }},
      {"gray", [](Picture& picture, double) { to_gray(picture); }}};
  const Json cases = tests::augmented("functions");
  EXPECT_GT(cases.size(), 100u);
  for (const Json& entry : cases) {
    Picture picture = tests::picture_of(entry);
    functions.at(entry.at("function"))(picture, entry.at("value").get<double>());
    EXPECT_EQ(tests::crc_of(picture), entry.at("crc32").get<std::uint32_t>()) << entry;
  }
}

TEST(Colour, FlippedTwiceIsTheSame) {
  const Picture picture = tests::noise_picture({7, 3});
  Picture flipped = picture;
  flip_horizontally(flipped);
  EXPECT_NE(flipped.rgb, picture.rgb);
  flip_horizontally(flipped);
  EXPECT_EQ(flipped.rgb, picture.rgb);
}

}  // namespace
}  // namespace vitascope::image
