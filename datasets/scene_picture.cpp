#include "datasets/scene_picture.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <memory>
#include <numbers>

#include "vit/random_numbers.h"

namespace vitascope::datasets {
namespace {

/// Corners around (x, y), of which the i-th has the i-th of `radii` by turns; the first one is on
/// top.
std::vector<double> around(const SceneObject& object, int corners, std::array<double, 2> radii) {
  std::vector<double> numbers;
  numbers.reserve(2 * static_cast<std::size_t>(corners));
  for (int i = 0; i < corners; ++i) {
    const double angle = 2 * std::numbers::pi * i / corners;
    const double radius = radii[static_cast<std::size_t>(i % 2)] * object.width / 2;
    numbers.push_back(object.x + radius * std::sin(angle));
    numbers.push_back(object.y - radius * std::cos(angle));
  }
  return numbers;
}

std::vector<double> corners_of(const SceneObject& object) {
  const double x = object.x, y = object.y, half = object.width / 2;
  switch (object.kind.figure) {
    case Figure::circle:
      return around(object, 72, {1, 1});
    case Figure::square: {
      const double side = 0.9 * half;
      return {x - side, y - side, x + side, y - side, x + side, y + side, x - side, y + side};
    }
    case Figure::triangle: {
      const double low = 0.85 * half;
      return {x, y - low, x + half, y + low, x - half, y + low};
    }
    case Figure::diamond:
      return around(object, 4, {1, 1});
    case Figure::star:
      return around(object, 10, {1, 0.45});
  }
  return {};
}

/// A light colour with a slow change of brightness.
void draw_background(image::Picture& picture, std::uint64_t seed) {
  constexpr int kGrid = 5;
  RandomNumbers random(combined_seed({seed, 1}));
  std::array<double, 3> base{};
  const double light = 195 + 35 * random.uniform();
  for (double& channel : base) channel = light + 16 * (random.uniform() - 0.5);
  std::array<std::array<double, kGrid>, kGrid> grid{};
  for (auto& row : grid) {
    for (double& value : row) value = 24 * (random.uniform() - 0.5);
  }
  const auto [width, height] = picture.size;
  std::uint8_t* pixel = picture.rgb.data();
  for (int y = 0; y < height; ++y) {
    const double down = (kGrid - 1) * (y + 0.5) / height;
    const auto row = static_cast<std::size_t>(down);
    std::array<double, kGrid> line{};
    for (std::size_t i = 0; i < kGrid; ++i) {
      line[i] = std::lerp(grid[row][i], grid[row + 1][i], down - static_cast<double>(row));
    }
    for (int x = 0; x < width; ++x) {
      const double across = (kGrid - 1) * (x + 0.5) / width;
      const auto column = static_cast<std::size_t>(across);
      const double change =
          std::lerp(line[column], line[column + 1], across - static_cast<double>(column));
      for (const double channel : base) {
        *pixel++ = static_cast<std::uint8_t>(std::clamp(channel + change + 0.5, 0.0, 255.0));
      }
    }
  }
}

/// A picture's mask of four points each way a pixel.
class FineMask {
 public:
  static constexpr int kFiner = 4;

  explicit FineMask(image::Size size)
      : size_(size),
        fine_{size.width * kFiner, size.height * kFiner},
        count_(static_cast<std::size_t>(fine_.width) * static_cast<std::size_t>(fine_.height)),
        points_(std::make_unique<bool[]>(count_)) {}

  void set(const MaskRegion& region) {
    std::fill_n(points_.get(), count_, false);
    datasets::draw(region, size_, {{points_.get(), count_}, fine_});
  }

  /// The part of a pixel's points that are set.
  double part(int x, int y) const {
    int set = 0;
    for (int row = y * kFiner; row < (y + 1) * kFiner; ++row) {
      const bool* point = points_.get() + static_cast<std::size_t>(row) * fine_.width + x * kFiner;
      set += static_cast<int>(std::count(point, point + kFiner, true));
    }
    return static_cast<double>(set) / (kFiner * kFiner);
  }

 private:
  image::Size size_, fine_;
  std::size_t count_;
  std::unique_ptr<bool[]> points_;
};

void draw_object(image::Picture& picture, const SceneObject& object, FineMask& mask) {
  mask.set(outline(object));
  const auto first = [&](double centre) {
    return std::max(0, static_cast<int>(std::floor(centre - object.width / 2)));
  };
  const auto last = [&](double centre, int limit) {
    return std::min(limit, static_cast<int>(std::ceil(centre + object.width / 2)));
  };
  const auto [width, height] = picture.size;
  for (int y = first(object.y); y < last(object.y, height); ++y) {
    for (int x = first(object.x); x < last(object.x, width); ++x) {
      const double part = mask.part(x, y);
      if (part == 0) continue;
      std::uint8_t* pixel = &picture.rgb[(static_cast<std::size_t>(y) * width + x) * 3];
      for (std::size_t channel = 0; channel < 3; ++channel) {
        const double value = std::lerp(pixel[channel], object.rgb[channel], part);
        pixel[channel] = static_cast<std::uint8_t>(std::lround(value));
      }
    }
  }
}

}  // namespace

MaskRegion outline(const SceneObject& object) {
  return {.polygons = {corners_of(object)}, .runs = {}};
}

image::Picture draw(const Scene& scene) {
  image::Picture picture;
  picture.size = picture.stored = {scene.size, scene.size};
  const auto pixels = static_cast<std::size_t>(scene.size) * static_cast<std::size_t>(scene.size);
  picture.rgb.resize(3 * pixels);
  draw_background(picture, scene.seed);
  FineMask mask(picture.size);
  for (const SceneObject& object : scene.objects) draw_object(picture, object, mask);
  return picture;
}

at::Tensor mask(const Scene& scene, Role role) {
  const image::Size size{scene.size, scene.size};
  at::Tensor result = at::empty({size.height, size.width}, at::kBool);
  const MaskPixels pixels{
      {result.mutable_data_ptr<bool>(), static_cast<std::size_t>(result.numel())}, size};
  std::ranges::fill(pixels.pixels, false);  // sooner than LibTorch wakes its threads
  for (const SceneObject& object : scene.objects) {
    if (object.role == role) draw(outline(object), size, pixels);
  }
  return result;
}

}  // namespace vitascope::datasets
