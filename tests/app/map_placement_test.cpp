// A photo that is dark but for one square, and a network made by hand whose class token looks at
// what is bright: the picture must be brightest in that square, whatever was done to the photo.
#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "app/drawing/write_picture.h"
#include "app/map_maker.h"
#include "app/map_pictures.h"
#include "vit/image/orientation.h"

namespace vitascope::app {
namespace {

using image::ResizeMode;
using image::Size;

constexpr Size kUpright{400, 300};
constexpr image::Rectangle kSquare{220, 90, 268, 138};

/// One block of one head over patches of 16 pixels. The embedding is (brightness, 1, -1, 0), what
/// norm1 leaves of its first number rises with it, keys are that number, and the query is fixed.
model::VisionTransformer brightness_network() {
  model::Config config;
  config.width = config.mlp_width = 4;
  config.depth = config.heads = 1;
  config.patch = 16;
  config.position_grid = config.native_grid = {14, 14};
  model::VisionTransformer network(config);
  for (auto& [name, slot] : network.parameters()) {
    for (const model::ParameterShape& parameter : model::parameter_shapes(config)) {
      if (parameter.name == name) *slot = at::zeros(parameter.shape);
    }
    if (name == "patch_embed.proj.weight") slot->select(0, 0).fill_(1.0 / (3 * 16 * 16));
    if (name == "patch_embed.proj.bias") slot->copy_(at::tensor({0.f, 1.f, -1.f, 0.f}));
    if (name == "blocks.0.norm1.weight" || name == "norm.weight") slot->fill_(1);
    if (name == "blocks.0.attn.qkv.bias") slot->index_put_({at::tensor({0})}, at::tensor({10.f}));
    if (name == "blocks.0.attn.qkv.weight") (*slot)[4][0] = 1;
  }
  return network;
}

/// The photo as a camera stores it: turned, with the EXIF orientation that turns it back.
std::string photo_bytes(int orientation) {
  const bool turned = orientation >= 5;
  const Size stored = turned ? Size{kUpright.height, kUpright.width} : kUpright;
  drawing::Canvas canvas(stored, {16, 16, 16});
  for (int y = 0; y < kUpright.height; ++y) {
    for (int x = 0; x < kUpright.width; ++x) {
      const bool inside =
          x >= kSquare.left && x < kSquare.right && y >= kSquare.top && y < kSquare.bottom;
      double column = 0, row = 0;
      image::upright_to_stored(orientation, stored, x + 0.5, y + 0.5, column, row);
      if (inside) canvas.set(static_cast<int>(column), static_cast<int>(row), {240, 240, 240});
    }
  }
  const std::string jpeg = drawing::encode(canvas, drawing::PictureFormat::jpeg, 95);
  // SOI, then APP1 with a TIFF of one entry: tag 0x0112, one short.
  std::string exif(
      "\xFF\xE1\x00\x22"
      "Exif\0\0"
      "II*\0\x08\0\0\0"
      "\x01\0"
      "\x12\x01\x03\0\x01\0\0\0",
      28);
  exif += static_cast<char>(orientation);
  exif += std::string(7, '\0');  // of the value, and no further directory
  exif[3] = static_cast<char>(exif.size() - 2);
  return jpeg.substr(0, 2) + exif + jpeg.substr(2);
}

image::Specification specification(ResizeMode mode, int crop) {
  image::Specification result;
  result.resize = mode;
  result.size = {224, 224};
  result.edge = 256;
  if (crop > 0) result.crop = Size{crop, crop};
  return result;
}

struct Preparation {
  const char* name;
  image::Specification specification;
};

void PrintTo(const Preparation& preparation, std::ostream* stream) { *stream << preparation.name; }

class MapPlacement : public testing::TestWithParam<std::tuple<Preparation, int>> {};

TEST_P(MapPlacement, IsBrightestWhereTheSquareIs) {
  const auto& [preparation, orientation] = GetParam();
  const std::string path = std::filesystem::temp_directory_path() /
                           ("vitascope-placement-" + std::string(preparation.name) +
                            std::to_string(orientation) + ".jpg");
  std::ofstream(path, std::ios::binary) << photo_bytes(orientation);
  weights::Model model;
  model.network = brightness_network();
  model.specification = preparation.specification;
  const MapMaker maker(model, {}, {.requests = map_requests({}, model.network.config())}, {});
  const ExplainedPhoto photo = maker.explain(path, {});
  std::filesystem::remove(path);
  ASSERT_EQ(photo.picture.size, kUpright);

  MapStyle style;
  style.caption = false;
  style.overlay.alpha = 1;
  style.overlay.colours = drawing::ColourMap::grey;
  const drawing::Canvas picture = draw_maps(photo, style, {});
  ASSERT_EQ(picture.size(), kUpright);
  int brightest = -1;
  std::pair<int, int> place;
  for (int y = 0; y < kUpright.height; ++y) {
    for (int x = 0; x < kUpright.width; ++x) {
      const int luma = drawing::luma(picture.at(x, y));
      // The middle of the square speaks for its cell; of equal ones it is taken.
      const bool middle = x == 244 && y == 114;
      if (luma > brightest || (luma == brightest && middle)) brightest = luma, place = {x, y};
    }
  }
  EXPECT_EQ(brightest, 255);
  EXPECT_TRUE(place.first >= kSquare.left && place.first < kSquare.right &&
              place.second >= kSquare.top && place.second < kSquare.bottom)
      << place.first << ", " << place.second;
}

INSTANTIATE_TEST_SUITE_P(
    Everywhere, MapPlacement,
    testing::Combine(
        testing::Values(
            Preparation{"Squash", specification(ResizeMode::squash, 0)},
            Preparation{"ShortestEdgeCropped", specification(ResizeMode::shortest_edge, 224)},
            Preparation{"SmallCrop", specification(ResizeMode::shortest_edge, 160)},
            Preparation{"LongestEdgePadded", specification(ResizeMode::longest_edge, 224)},
            Preparation{"Cover", specification(ResizeMode::cover, 224)},
            Preparation{"CroppedAsItIs", specification(ResizeMode::none, 224)}),
        testing::Range(1, 9)),
    [](const auto& info) {
      return std::string(std::get<0>(info.param).name) + std::to_string(std::get<1>(info.param));
    });

}  // namespace
}  // namespace vitascope::app
