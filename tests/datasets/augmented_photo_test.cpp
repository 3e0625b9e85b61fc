#include "datasets/augmented_photo.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include "tests/golden.h"
#include "vit/error.h"

namespace vitascope::datasets {
namespace {

using tests::golden;

LabelledImages of_file(const std::string& path) {
  LabelledImages images;
  images.samples.emplace_back();
  images.samples.back().path = path;
  return images;
}

PhotoRecipe recipe(image::Size size) {
  PhotoRecipe result;
  result.specification.size = size;
  return result;
}

TEST(AugmentedPhoto, DependsOnSeedEpochAndIndex) {
  const LabelledImages images = of_file(golden("images/rgb.png"));
  PhotoRecipe mine = recipe({16, 16});
  const at::Tensor first = augmented_photo(images, 0, 3, mine);
  EXPECT_TRUE(at::equal(first, augmented_photo(images, 0, 3, mine)));
  EXPECT_FALSE(at::equal(first, augmented_photo(images, 0, 4, mine)));
  mine.seed = 1;
  EXPECT_FALSE(at::equal(first, augmented_photo(images, 0, 3, mine)));
}

TEST(AugmentedPhoto, EveryFormatOrientationAndStoredPictures) {
  for (const char* name : {"images/exif_6.jpg", "images/lossy.webp", "images/gray16.png",
                           "images/cmyk_adobe.jpg", "images/animated.gif"})
    EXPECT_EQ(augmented_photo(of_file(golden(name)), 0, 0, recipe({20, 12})).sizes(),
              (at::IntArrayRef{3, 12, 20}))
        << name;
  LabelledImages images = of_file("x#0");
  images.stored = std::make_shared<StoredPictures>(StoredPictures{{2, 2}, 1, {9, 9, 9, 9}});
  images.samples[0].stored = 0;
  EXPECT_EQ(augmented_photo(images, 0, 0, recipe({4, 4})).sizes(), (at::IntArrayRef{3, 4, 4}));
  EXPECT_THROW(augmented_photo(of_file(golden("images/bad/truncated.jpg")), 0, 0, recipe({4, 4})),
               InputError);
}

/// The same part of the photo, whether it was decoded whole or reduced.
TEST(AugmentedPhoto, ReducedDecodingShowsTheSame) {
  for (const char* name : {"images/rgb_plain.jpg", "images/exif_6.jpg", "images/progressive.jpg"}) {
    PhotoRecipe mine = recipe({8, 8});
    mine.augmentation.flip = 0;
    const image::Picture whole = image::decode(golden(name));
    for (std::uint64_t epoch = 0; epoch < 10; ++epoch) {
      const at::Tensor reduced = augmented_photo(of_file(golden(name)), 0, epoch, mine);
      auto random = image::RandomStream::of(0, epoch, 0);
      const auto part = image::draw_part(whole.size, mine.augmentation, random);
      const at::Tensor exact =
          image::augment(whole, part, mine.augmentation, mine.specification, random);
      // In units of 2 / 255; a shifted crop of these photos differs by several times as much.
      EXPECT_LT((reduced - exact).abs().mean().item<double>(), 0.06) << name << " " << epoch;
    }
  }
}

TEST(JpegReduction, LeavesThePixelsThatTheModelSees) {
  EXPECT_EQ(jpeg_reduction({447, 900}, {224, 224}), 1);
  EXPECT_EQ(jpeg_reduction({448, 448}, {224, 224}), 2);
  EXPECT_EQ(jpeg_reduction({896, 1000}, {224, 224}), 4);
  EXPECT_EQ(jpeg_reduction({8000, 8000}, {224, 224}), 8);
  EXPECT_EQ(jpeg_reduction({10, 10}, {224, 224}), 1);
}

TEST(JpegReduction, SizesAreRoundedUp) {
  const image::Size full = image::decode(golden("images/odd_301x33.jpg")).size;
  for (const int reduction : {2, 4, 8}) {
    image::DecodeOptions options;
    options.jpeg_reduction = reduction;
    const image::Size size = image::decode(golden("images/odd_301x33.jpg"), options).size;
    EXPECT_EQ(size.width, (full.width + reduction - 1) / reduction);
    EXPECT_EQ(size.height, (full.height + reduction - 1) / reduction);
  }
}

}  // namespace
}  // namespace vitascope::datasets
