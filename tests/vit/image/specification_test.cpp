#include "vit/image/specification.h"

#include <gtest/gtest.h>

#include "vit/error.h"

namespace vitascope::image {
namespace {

Specification shortest_edge(int edge, std::optional<Size> crop = std::nullopt,
                            CropOffset offset = CropOffset::floor) {
  Specification result;
  result.resize = ResizeMode::shortest_edge;
  result.edge = edge;
  result.crop = crop;
  result.crop_offset = offset;
  return result;
}

TEST(Geometry, FloorsTheLongEdge) {
  EXPECT_EQ(geometry(shortest_edge(256), {500, 375}).resized, (Size{341, 256}));  // 341.33
  EXPECT_EQ(geometry(shortest_edge(256), {375, 500}).resized, (Size{256, 341}));
  EXPECT_EQ(geometry(shortest_edge(256), {3, 2}).resized, (Size{384, 256}));
  EXPECT_EQ(geometry(shortest_edge(10), {10, 10}).resized, (Size{10, 10}));
  EXPECT_EQ(geometry(shortest_edge(10), {29, 10}).output, (Size{29, 10}));
}

TEST(Geometry, OffsetsACropByTheFamilysRule) {
  const auto left = [](int width, CropOffset offset) {
    Specification specification;
    specification.resize = ResizeMode::none;
    specification.crop = Size{10, 10};
    specification.crop_offset = offset;
    return geometry(specification, {width, 10}).left;
  };
  EXPECT_EQ(left(13, CropOffset::floor), 1);
  EXPECT_EQ(left(13, CropOffset::round_half_even), 2);  // 1.5
  EXPECT_EQ(left(15, CropOffset::round_half_even), 2);  // 2.5
  EXPECT_EQ(left(15, CropOffset::floor), 2);
  EXPECT_EQ(left(10, CropOffset::floor), 0);
  // Padding: transformers puts the larger half first, torchvision the smaller.
  EXPECT_EQ(left(7, CropOffset::floor), -2);
  EXPECT_EQ(left(7, CropOffset::round_half_even), -1);
  EXPECT_EQ(left(6, CropOffset::floor), -2);
  EXPECT_EQ(left(6, CropOffset::round_half_even), -2);
}

TEST(Geometry, SurvivesExtremeAspects) {
  const Geometry wide = geometry(shortest_edge(16384, Size{8, 8}), {180000000, 1});
  EXPECT_GT(wide.resized.width, 1000000000);
  EXPECT_EQ(wide.output, (Size{8, 8}));
  Specification border;
  border.resize = ResizeMode::longest_edge;
  border.size = {32, 32};
  EXPECT_EQ(geometry(border, {100000, 1}).resized, (Size{32, 1}));
}

TEST(OutputSize, IsKnownWhereThePictureDoesNotMatter) {
  Specification specification;
  specification.size = {48, 32};
  EXPECT_EQ(output_size(specification), (Size{48, 32}));
  EXPECT_EQ(output_size(shortest_edge(36)), std::nullopt);
  EXPECT_EQ(output_size(shortest_edge(36, Size{32, 32})), (Size{32, 32}));
  specification.resize = ResizeMode::none;
  EXPECT_EQ(output_size(specification), std::nullopt);
}

TEST(WithInputSize, ScalesASquashAsTransformersSizes) {
  Specification vit;
  vit.size = {224, 224};
  EXPECT_EQ(with_input_size(vit, {384, 320}).size, (Size{384, 320}));
  EXPECT_EQ(with_input_size(vit, {384, 320}).crop, std::nullopt);
  Specification deit;
  deit.size = {256, 256};
  deit.crop = Size{224, 224};
  EXPECT_EQ(with_input_size(deit, {384, 384}).size, (Size{438, 438}));
  EXPECT_EQ(with_input_size(deit, {384, 384}).crop, (Size{384, 384}));
}

TEST(WithInputSize, ScalesAnEdgeWithItsCrop) {
  EXPECT_EQ(with_input_size(shortest_edge(256, Size{224, 224}), {448, 448}).edge, 512);
  EXPECT_EQ(with_input_size(shortest_edge(256, Size{224, 224}), {224, 224}),
            shortest_edge(256, Size{224, 224}));
  EXPECT_EQ(with_input_size(shortest_edge(256, Size{224, 224}), {224, 448}).edge, 512);
  const Specification cropped = with_input_size(shortest_edge(256), {100, 90});
  EXPECT_EQ(cropped.edge, 100);
  EXPECT_EQ(cropped.crop, (Size{100, 90}));
}

TEST(WithoutCrop, PressesTheWholePictureIntoTheSameInput) {
  const Specification whole = without_crop(shortest_edge(256, Size{224, 192}));
  EXPECT_EQ(output_size(whole), (Size{224, 192}));
  const Geometry wide = geometry(whole, {1000, 100});
  EXPECT_EQ(wide.resized, (Size{224, 192}));
  EXPECT_EQ(wide.left, 0);
  EXPECT_EQ(wide.top, 0);
  EXPECT_THROW(without_crop(shortest_edge(256)), UsageError);
}

TEST(WithInputSize, KeepsTimmsCropFraction) {
  Specification timm = shortest_edge(248, Size{224, 224}, CropOffset::round_half_even);
  timm.crop_pct = 0.9;
  const Specification larger = with_input_size(timm, {384, 384});
  EXPECT_EQ(larger.resize, ResizeMode::shortest_edge);
  EXPECT_EQ(larger.edge, 426);  // floor(384 / 0.9)
  EXPECT_EQ(larger.crop, (Size{384, 384}));
  const Specification wide = with_input_size(timm, {384, 224});
  EXPECT_EQ(wide.resize, ResizeMode::cover);
  EXPECT_EQ(wide.size, (Size{426, 248}));
  EXPECT_EQ(with_input_size(wide, {224, 224}), timm);
}

TEST(WithInputSize, RefusesSizesOutOfRange) {
  EXPECT_THROW(with_input_size(shortest_edge(256), {0, 224}), UsageError);
  EXPECT_THROW(with_input_size(shortest_edge(256), {224, 16385}), UsageError);
}

TEST(Describe, SaysItInOneLine) {
  Specification specification = shortest_edge(256, Size{224, 192});
  specification.filter = Filter::bicubic;
  specification.mean = {0.485f, 0.456f, 0.406f};
  specification.std = {0.229f, 0.224f, 0.225f};
  EXPECT_EQ(describe(specification),
            "shortest edge to 256 (bicubic), centre crop 224 x 192, scaled by 1/255, "
            "mean 0.485 0.456 0.406, std 0.229 0.224 0.225");
  Specification plain;
  plain.resize = ResizeMode::none;
  plain.rescale = false;
  plain.normalise = false;
  EXPECT_EQ(describe(plain), "not resized");
  plain.resize = ResizeMode::longest_edge;
  plain.size = {32, 24};
  plain.rescale = true;
  plain.rescale_factor = 0.5;
  EXPECT_EQ(describe(plain), "fitted into 32 x 24 (bilinear), padded with the mean, scaled by 0.5");
}

}  // namespace
}  // namespace vitascope::image
