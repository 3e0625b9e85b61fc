#include "app/pixel_comparison.h"

#include <ATen/ATen.h>
#include <gmock/gmock.h>

#include <cmath>
#include <limits>
#include <opencv2/imgproc.hpp>

#include "tests/app/reference_file.h"
#include "tests/golden.h"
#include "vit/error.h"
#include "vit/file.h"
#include "vit/image/decode.h"

namespace vitascope::app {
namespace {

using image::Picture;
using image::Size;
using image::Specification;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using tests::golden;

constexpr std::array<float, 3> kImageNetMean{0.485f, 0.456f, 0.406f};
constexpr std::array<float, 3> kImageNetStd{0.229f, 0.224f, 0.225f};

// The three pipelines that the golden pictures were prepared with.
Specification vit() {
  Specification specification;
  specification.size = {32, 32};
  return specification;
}

Specification bit() {
  Specification specification;
  specification.resize = image::ResizeMode::shortest_edge;
  specification.edge = 36;
  specification.filter = image::Filter::bicubic;
  specification.crop = Size{32, 32};
  specification.mean = kImageNetMean;
  specification.std = kImageNetStd;
  return specification;
}

Specification timm() {
  Specification specification = bit();
  specification.edge = 35;
  specification.crop_offset = image::CropOffset::round_half_even;
  specification.mean = specification.std = {0.5f, 0.5f, 0.5f};
  return specification;
}

// What Python gave for a golden picture: "rgb_plain.jpg|vit".
at::Tensor python(const std::string& name) {
  return tests::read_tensors(golden("images/expected.safetensors")).at(name);
}

Picture photo(const std::string& name) { return image::decode(golden("images/" + name)); }

at::Tensor channels(const std::array<float, 3>& values) {
  return at::tensor(values).view({3, 1, 1});
}

at::Tensor levels(const at::Tensor& values, const Specification& specification) {
  return (values * channels(specification.std) + channels(specification.mean)) * 255;
}

at::Tensor normalised(const at::Tensor& levels, const Specification& specification) {
  return (levels / 255 - channels(specification.mean)) / channels(specification.std);
}

at::Tensor tensor_of(const cv::Mat& picture) {
  cv::Mat floats;
  picture.convertTo(floats, CV_32FC3);
  return at::from_blob(floats.data, {floats.rows, floats.cols, 3}, at::kFloat)
      .permute({2, 0, 1})
      .clone();
}

// As a program built on OpenCV does it: no antialias.
at::Tensor opencv_resized(Picture picture, Size size, int interpolation) {
  const cv::Mat whole(picture.size.height, picture.size.width, CV_8UC3, picture.rgb.data());
  cv::Mat resized;
  cv::resize(whole, resized, {size.width, size.height}, 0, 0, interpolation);
  return tensor_of(resized);
}

// Triangle weights [target, source] whose support grows with the scale, in double precision.
at::Tensor triangle(int source, int target) {
  const double scale = double(source) / target, support = std::max(scale, 1.0);
  at::Tensor weights = at::zeros({target, source}, at::kDouble);
  for (int i = 0; i < target; ++i) {
    for (int j = 0; j < source; ++j) {
      weights[i][j] = std::max(0.0, 1 - std::abs(j + 0.5 - (i + 0.5) * scale) / support);
    }
  }
  return weights / weights.sum(1, true);
}

std::vector<std::string> causes(const PixelComparison& comparison) {
  std::vector<std::string> names;
  for (const Cause& cause : comparison.causes) names.push_back(cause.name);
  return names;
}

TEST(ComparePixels, WhatPythonGaveIsIdentical) {
  const std::pair<const char*, Specification> pipelines[] = {
      {"vit", vit()}, {"bit", bit()}, {"timm", timm()}};
  for (const auto& [name, specification] : pipelines) {
    const PixelComparison result = compare_pixels(python(std::string("rgb_plain.jpg|") + name),
                                                  photo("rgb_plain.jpg"), specification);
    EXPECT_TRUE(result.identical()) << name;
    EXPECT_THAT(result.causes, IsEmpty()) << name;
  }
}

TEST(ComparePixels, NamesTorchvisionsBackEnd) {
  const at::Tensor reference =
      tests::read_tensors(golden("reference/transformers-torchvision.safetensors"))
          .at("pixel_values")[0];
  const PixelComparison result = compare_pixels(reference, photo("rgb_plain.jpg"), vit());
  EXPECT_FALSE(result.identical());
  EXPECT_TRUE(result.within_one_level());
  EXPECT_NEAR(result.ours.largest, 1, 0.01);
  EXPECT_THAT(causes(result), ElementsAre("torchvision"));
}

TEST(ComparePixels, NamesTheChannelOrder) {
  const PixelComparison equal_channels =
      compare_pixels(python("rgb_plain.jpg|vit").flip(0), photo("rgb_plain.jpg"), vit());
  EXPECT_THAT(causes(equal_channels), ElementsAre("channel_order"));
  EXPECT_FALSE(equal_channels.within_one_level());
  EXPECT_LT(equal_channels.explained.largest, 0.01);
  // Blue normalised with red's mean, as it happens when BGR goes through a pipeline for RGB.
  const at::Tensor swapped = normalised(levels(python("rgb_plain.jpg|bit"), bit()).flip(0), bit());
  EXPECT_THAT(causes(compare_pixels(swapped, photo("rgb_plain.jpg"), bit())),
              ElementsAre("channel_order"));
}

TEST(ComparePixels, NamesTheRoundingOfTheCrop) {
  Specification floors = timm();
  floors.crop_offset = image::CropOffset::floor;
  const PixelComparison result =
      compare_pixels(python("rgb_plain.jpg|timm"), photo("rgb_plain.jpg"), floors);
  EXPECT_THAT(causes(result), ElementsAre("crop_rounding"));
  EXPECT_LT(result.explained.largest, 0.01);
}

TEST(ComparePixels, NamesAShiftedCrop) {
  // A photo of 200 x 150 becomes 46 x 35: Python's 32 x 32 start at (7, 2), a floored 31 x 31 too.
  Specification smaller = timm();
  smaller.crop_offset = image::CropOffset::floor;
  smaller.crop = Size{31, 31};
  const at::Tensor lower = python("rgb_plain.jpg|timm").slice(1, 1, 32).slice(2, 0, 31);
  const PixelComparison result = compare_pixels(lower, photo("rgb_plain.jpg"), smaller);
  EXPECT_THAT(causes(result), ElementsAre("crop_shift"));
  EXPECT_THAT(result.causes[0].text, HasSubstr("x 7, y 3"));
  EXPECT_LT(result.explained.largest, 0.01);
}

TEST(ComparePixels, NamesTheMissingAntialias) {
  const Picture picture = photo("rgb_plain.jpg");
  const at::Tensor linear = opencv_resized(picture, {32, 32}, cv::INTER_LINEAR);
  EXPECT_THAT(causes(compare_pixels(normalised(linear, vit()), picture, vit())),
              ElementsAre("antialias"));
  const at::Tensor cubic =
      opencv_resized(picture, {46, 35}, cv::INTER_CUBIC).slice(1, 2, 34).slice(2, 7, 39);
  EXPECT_THAT(causes(compare_pixels(normalised(cubic, timm()), picture, timm())),
              ElementsAre("antialias"));
}

TEST(ComparePixels, NamesAnotherFilterWithoutAntialias) {
  const Picture picture = photo("rgb_plain.jpg");
  const at::Tensor linear =
      opencv_resized(picture, {46, 35}, cv::INTER_LINEAR).slice(1, 2, 34).slice(2, 7, 39);
  const PixelComparison result = compare_pixels(normalised(linear, timm()), picture, timm());
  EXPECT_THAT(causes(result), ElementsAre("filter", "antialias"));
  EXPECT_THAT(result.causes[0].text, HasSubstr("bilinear"));
}

TEST(ComparePixels, NamesAnotherFilter) {
  Specification wrong = bit();
  wrong.filter = image::Filter::bilinear;
  const PixelComparison result =
      compare_pixels(python("rgb_plain.jpg|bit"), photo("rgb_plain.jpg"), wrong);
  EXPECT_THAT(causes(result), ElementsAre("filter"));
  EXPECT_THAT(result.causes[0].text, HasSubstr("bicubic where the model's files say bilinear"));
}

TEST(ComparePixels, NamesAnotherResize) {
  Specification wrong = bit();
  wrong.resize = image::ResizeMode::squash;
  wrong.size = {32, 32};
  wrong.crop.reset();
  wrong.edge = 0;
  // Python resized the shortest edge to 35 = floor(32 / 0.9).
  wrong.crop_offset = image::CropOffset::round_half_even;
  wrong.mean = wrong.std = timm().mean;
  const PixelComparison result =
      compare_pixels(python("rgb_plain.jpg|timm"), photo("rgb_plain.jpg"), wrong);
  EXPECT_THAT(causes(result), ElementsAre("resize"));
  EXPECT_THAT(result.causes[0].text, HasSubstr("shortest edge to 35"));
}

TEST(ComparePixels, NamesFloatingPointResampling) {
  Picture picture = photo("rgb_plain.jpg");
  const at::Tensor pixels =
      tensor_of(cv::Mat(picture.size.height, picture.size.width, CV_8UC3, picture.rgb.data()))
          .to(at::kDouble);
  const at::Tensor resized =
      at::matmul(at::matmul(triangle(150, 32), pixels), triangle(200, 32).t()).to(at::kFloat);
  const PixelComparison result = compare_pixels(normalised(resized, vit()), picture, vit());
  EXPECT_THAT(causes(result), ElementsAre("float_resampling"));
  EXPECT_LT(result.explained.largest, 0.01);
}

// The photo as a program sees it that reads no EXIF: the orientation tag (0x0112, SHORT, one value)
// set to 1 in the file itself.
Picture without_orientation(const std::string& name) {
  std::string file = read_file(golden("images/" + name), 1 << 20);
  const std::string big("\x01\x12\x00\x03\x00\x00\x00\x01\x00", 9);
  const std::string little("\x12\x01\x03\x00\x01\x00\x00\x00", 8);
  if (const std::size_t at = file.find(big); at != std::string::npos) {
    file[at + 9] = 1;
  } else if (const std::size_t here = file.find(little); here != std::string::npos) {
    file[here + 8] = 1;
  } else {
    throw std::runtime_error(name + " holds no orientation");
  }
  return image::decode_bytes(std::as_bytes(std::span(file)), name);
}

TEST(ComparePixels, NamesAnOrientationThatWasNotApplied) {
  for (const char* name : {"exif_2.jpg", "exif_3.jpg", "exif_4.jpg", "exif_5.jpg", "exif_6.jpg",
                           "exif_7.jpg", "exif_8.jpg"}) {
    const Picture ignored = without_orientation(name);
    ASSERT_EQ(ignored.orientation, 1) << name;
    // Nearest neighbours, written out, so that nothing of our own pipeline makes the reference.
    Specification nearest = vit();
    nearest.filter = image::Filter::nearest;
    at::Tensor reference = at::empty({3, 32, 32});
    for (int y = 0; y < 32; ++y) {
      for (int x = 0; x < 32; ++x) {
        const int from_y = (2 * y + 1) * ignored.size.height / 64;
        const int from_x = (2 * x + 1) * ignored.size.width / 64;
        for (int c = 0; c < 3; ++c) {
          const int level =
              ignored.rgb[std::size_t((from_y * ignored.size.width + from_x) * 3 + c)];
          reference[c][y][x] = float(level) / 127.5f - 1;
        }
      }
    }
    const PixelComparison result = compare_pixels(reference, photo(name), nearest);
    EXPECT_THAT(causes(result), ElementsAre("orientation")) << name;
    EXPECT_THAT(result.causes.empty() ? "" : result.causes[0].text, HasSubstr("was not applied"))
        << name;
    EXPECT_FALSE(result.within_one_level()) << name;
  }
}

TEST(ComparePixels, NamesATurnOfAPhotoWithoutOrientation) {
  const at::Tensor mirrored = python("rgb_plain.jpg|vit").flip(2);
  const PixelComparison result = compare_pixels(mirrored, photo("rgb_plain.jpg"), vit());
  // Mirroring after the resize differs from mirroring before by rounding alone.
  EXPECT_THAT(causes(result), ElementsAre("orientation"));
  EXPECT_THAT(result.causes[0].text, HasSubstr("mirrored against ours"));
}

TEST(ComparePixels, NamesAnotherNormalisation) {
  const at::Tensor own = levels(python("rgb_plain.jpg|vit"), vit());
  const auto normalisation = [&](const at::Tensor& reference) {
    const PixelComparison result = compare_pixels(reference, photo("rgb_plain.jpg"), vit());
    EXPECT_THAT(causes(result), ElementsAre("normalisation"));
    return result.causes.empty() ? "" : result.causes[0].text;
  };
  EXPECT_THAT(normalisation(normalised(own, bit())), HasSubstr("ImageNet"));
  EXPECT_THAT(normalisation(own / 255), HasSubstr("0 to 1"));
  EXPECT_THAT(normalisation(own), HasSubstr("0 to 255"));
  EXPECT_THAT(normalisation(own / 255 / 0.31 - 1), HasSubstr("mean 0.310 0.310 0.310, std 0.310"));
}

TEST(ComparePixels, FindsTwoCausesTogether) {
  const Picture picture = photo("rgb_plain.jpg");
  const at::Tensor linear = opencv_resized(picture, {32, 32}, cv::INTER_LINEAR).flip(0);
  EXPECT_THAT(causes(compare_pixels(normalised(linear, vit()), picture, vit())),
              ElementsAre("antialias", "channel_order"));
  EXPECT_THAT(causes(compare_pixels(normalised(linear, bit()), picture, vit())),
              ElementsAre("antialias", "channel_order", "normalisation"));
}

TEST(ComparePixels, AdmitsThatItDoesNotKnow) {
  const PixelComparison result =
      compare_pixels(python("rgb.png|vit"), photo("rgb_plain.jpg"), vit());
  EXPECT_THAT(result.causes, IsEmpty());
  EXPECT_NE(result.nearest, "");
  EXPECT_GT(result.explained.largest, 1);
  EXPECT_FALSE(result.within_one_level());
}

TEST(ComparePixels, NaNIsNeverWithinALevel) {
  at::Tensor reference = python("rgb_plain.jpg|vit").clone();
  reference[1][5][6] = std::numeric_limits<float>::quiet_NaN();
  const PixelComparison result = compare_pixels(reference, photo("rgb_plain.jpg"), vit());
  EXPECT_FALSE(result.identical());
  EXPECT_FALSE(result.within_one_level());
  EXPECT_THAT(result.causes, IsEmpty());
}

TEST(ComparePixels, RefusesAnotherSize) {
  EXPECT_THROW(compare_pixels(at::zeros({3, 30, 32}), photo("rgb_plain.jpg"), vit()),
               InternalError);
}

}  // namespace
}  // namespace vitascope::app
