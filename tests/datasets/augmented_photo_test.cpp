#include "datasets/augmented_photo.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <opencv2/imgcodecs.hpp>

#include "tests/cli/run_program.h"
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

/// A JPEG whose red rises from left to right and green from top to bottom, so that each pixel of a
/// crop tells where it lies.
std::string ramp(const tests::TemporaryFolder& folder, image::Size size) {
  cv::Mat picture(size.height, size.width, CV_8UC3);
  for (int y = 0; y < size.height; ++y)
    for (int x = 0; x < size.width; ++x)
      picture.at<cv::Vec3b>(y, x) = {0, cv::saturate_cast<std::uint8_t>(255.0 * y / size.height),
                                     cv::saturate_cast<std::uint8_t>(255.0 * x / size.width)};
  std::vector<unsigned char> bytes;
  cv::imencode(".jpg", picture, bytes, {cv::IMWRITE_JPEG_QUALITY, 100});
  return folder.write("ramp.jpg", std::string(bytes.begin(), bytes.end()));
}

/// The same part of the photo, whether it was decoded whole or reduced: not further off than half a
/// pixel of the reduced photo, and two levels for the JPEG.
TEST(AugmentedPhoto, ReducedDecodingShowsTheSamePart) {
  const tests::TemporaryFolder folder;
  const std::string path = ramp(folder, {512, 384});
  const image::Picture whole = image::decode(path);
  PhotoRecipe mine = recipe({32, 24});
  mine.specification.normalise = false;
  mine.augmentation.flip = 0;
  int reduced = 0;
  for (std::uint64_t epoch = 0; epoch < 40; ++epoch) {
    auto random = image::RandomStream::of(0, epoch, 0);
    const auto part = image::draw_part(whole.size, mine.augmentation, random);
    const at::Tensor exact =
        image::augment(whole, part, mine.augmentation, mine.specification, random);
    const at::Tensor pixels = augmented_photo(of_file(path), 0, epoch, mine);
    const int reduction = jpeg_reduction(part->size, {32, 24});
    const double levels = 0.5 * reduction * 255 / 384 + 2;
    EXPECT_LE((pixels - exact).abs().max().item<double>() * 255, levels) << epoch;
    reduced += reduction > 1 ? 1 : 0;
  }
  EXPECT_GT(reduced, 20);
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

TEST(AugmentedPhoto, OfACacheIsTheSameAndNeedsNoFile) {
  const tests::TemporaryFolder folder;
  const std::string path = folder / "photo.png";
  std::filesystem::copy_file(golden("images/rgb.png"), path);
  const LabelledImages images = of_file(path);
  PhotoRecipe mine = recipe({16, 16});
  const at::Tensor decoded = augmented_photo(images, 0, 3, mine);
  mine.cache = std::make_shared<DecodedCache>(std::size_t{1} << 20);
  EXPECT_TRUE(at::equal(decoded, augmented_photo(images, 0, 3, mine)));
  std::filesystem::remove(path);
  EXPECT_TRUE(at::equal(decoded, augmented_photo(images, 0, 3, mine)));
}

/// A cached JPEG is shrunk as far as the smallest crop allows, and shows the same part.
TEST(AugmentedPhoto, ACacheKeepsWhatEveryCropNeeds) {
  const tests::TemporaryFolder folder;
  const LabelledImages images = of_file(ramp(folder, {640, 640}));
  PhotoRecipe mine = recipe({64, 64});
  mine.augmentation.crop->least_area = 0.25;  // 277 pixels or more an edge: a quarter is enough
  mine.cache = std::make_shared<DecodedCache>(std::size_t{1} << 24);
  const at::Tensor cached = augmented_photo(images, 0, 1, mine);
  EXPECT_EQ(mine.cache->find(0)->picture.size, (image::Size{160, 160}));
  mine.cache = nullptr;
  EXPECT_LT((cached - augmented_photo(images, 0, 1, mine)).abs().max().item<double>(), 0.05);
}

}  // namespace
}  // namespace vitascope::datasets
