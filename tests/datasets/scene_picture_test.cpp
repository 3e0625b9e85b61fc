#include "datasets/scene_picture.h"

#include <ATen/core/Tensor.h>
#include <gmock/gmock.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <set>

namespace vitascope::datasets {
namespace {

/// The area of a shape of that width by school geometry.
double area(Figure figure, double width) {
  switch (figure) {
    case Figure::circle:
      return std::numbers::pi * width * width / 4;
    case Figure::square:
      return 0.81 * width * width;
    case Figure::triangle:
      return 0.85 * width * width / 2;
    case Figure::diamond:
      return width * width / 2;
    case Figure::star:  // ten triangles from the centre between the two radii
      return 5 * 0.45 * width * width / 4 * std::sin(std::numbers::pi / 5);
  }
  return 0;
}

/// A mask, read without LibTorch's threads.
class Mask {
 public:
  Mask(const Scene& scene, Role role) : pixels_(mask(scene, role)) {}

  bool operator[](std::int64_t pixel) const { return pixels_.const_data_ptr<bool>()[pixel]; }
  std::int64_t count() const {
    const bool* begin = pixels_.const_data_ptr<bool>();
    return std::count(begin, begin + pixels_.numel(), true);
  }

 private:
  at::Tensor pixels_;
};

Scene scene_of(std::uint64_t index) { return SceneGenerator().scene(ScenePart::training, index); }

TEST(ScenePicture, MasksHaveTheAreaOfTheirShapes) {
  std::set<Figure> met;
  for (std::uint64_t i = 0; i < 100; ++i) {
    const Scene scene = scene_of(i);
    for (const Role role : {Role::subject, Role::reference}) {
      double expected = 0;
      for (const SceneObject& object : scene.objects) {
        if (object.role != role) continue;
        met.insert(object.kind.figure);
        expected += area(object.kind.figure, object.width);
      }
      EXPECT_NEAR(static_cast<double>(Mask(scene, role).count()), expected, 0.03 * expected)
          << caption(scene);
    }
  }
  EXPECT_EQ(met.size(), static_cast<std::size_t>(kFigures));
}

TEST(ScenePicture, ColoursLieWhereTheMasksSay) {
  for (std::uint64_t i = 0; i < 60; ++i) {
    const Scene scene = scene_of(i);
    const image::Picture picture = draw(scene);
    ASSERT_EQ(picture.rgb.size(), 3U * 224 * 224);
    const Mask subject(scene, Role::subject), reference(scene, Role::reference);
    int light_outside = 0, light_inside = 0, inside = 0;
    for (std::int64_t pixel = 0; pixel < 224 * 224; ++pixel) {
      EXPECT_FALSE(subject[pixel] && reference[pixel]);
      const std::uint8_t* rgb = &picture.rgb[3 * static_cast<std::size_t>(pixel)];
      const bool light = std::min({rgb[0], rgb[1], rgb[2]}) > 160;
      const bool within = subject[pixel] || reference[pixel];
      inside += within;
      (within ? light_inside : light_outside) += light;
    }
    // Edges are mixed, so a few in a hundred are neither.
    EXPECT_GT(light_outside, 0.97 * (224 * 224 - inside)) << caption(scene);
    EXPECT_LT(light_inside, 0.03 * inside) << caption(scene);
    for (const SceneObject& object : scene.objects) {
      const auto centre =
          static_cast<std::size_t>(object.y) * 224 + static_cast<std::size_t>(object.x);
      const std::uint8_t* rgb = &picture.rgb[3 * centre];
      EXPECT_THAT(object.rgb, testing::ElementsAre(rgb[0], rgb[1], rgb[2]));
    }
  }
}

TEST(ScenePicture, EdgesAreSmooth) {
  const Scene scene = scene_of(0);
  const SceneObject& object = scene.objects.front();
  const image::Picture picture = draw(scene);
  std::set<int> levels;
  for (std::size_t i = 0; i < picture.rgb.size(); i += 3) levels.insert(picture.rgb[i]);
  int between = 0;
  for (const int level : levels) between += level > object.rgb[0] + 15 && level < 150;
  EXPECT_GT(between, 10);
}

TEST(ScenePicture, BackgroundsDiffer) {
  const Scene scene = scene_of(0);
  Scene other = scene;
  ++other.seed;
  EXPECT_EQ(draw(scene).rgb, draw(scene).rgb);
  EXPECT_NE(draw(scene).rgb, draw(other).rgb);
}

}  // namespace
}  // namespace vitascope::datasets
