#include "datasets/scenes.h"

#include <gmock/gmock.h>

#include <cmath>
#include <map>
#include <set>
#include <tuple>

#include "vit/error.h"

namespace vitascope::datasets {
namespace {

constexpr std::uint64_t kScenes = 3000;

/// A colour and shape in an arrangement, seen from the object itself.
using Combination = std::tuple<FigureColour, Figure, Arrangement>;

Arrangement turned(Arrangement relation) {
  switch (relation) {
    case Arrangement::left_of:
      return Arrangement::right_of;
    case Arrangement::right_of:
      return Arrangement::left_of;
    case Arrangement::above:
      return Arrangement::below;
    default:
      return Arrangement::above;
  }
}

std::vector<Combination> combinations(const Scene& scene) {
  std::vector<Combination> result;
  for (const SceneObject& object : scene.objects) {
    result.emplace_back(
        object.kind.colour, object.kind.figure,
        object.role == Role::subject ? scene.arrangement : turned(scene.arrangement));
  }
  return result;
}

std::set<Combination> seen_in_training(const SceneGenerator& generator, std::uint64_t scenes) {
  std::set<Combination> seen;
  for (std::uint64_t i = 0; i < scenes; ++i) {
    for (const Combination& one : combinations(generator.scene(ScenePart::training, i))) {
      seen.insert(one);
    }
  }
  return seen;
}

TEST(Scenes, DependOnNumberAndSeedsAlone) {
  const SceneGenerator generator;
  std::set<std::string> captions;
  for (std::uint64_t i = 0; i < 50; ++i) {
    const Scene scene = generator.scene(ScenePart::training, i);
    const Scene again = SceneGenerator().scene(ScenePart::training, i);
    EXPECT_EQ(caption(scene), caption(again));
    EXPECT_EQ(scene.objects[0].x, again.objects[0].x);
    captions.insert(caption(scene));
  }
  EXPECT_GT(captions.size(), 40U);
  const Scene other = SceneGenerator({.seed = 1}).scene(ScenePart::training, 0);
  EXPECT_NE(other.objects[0].x, generator.scene(ScenePart::training, 0).objects[0].x);
}

TEST(Scenes, AFifthIsHeldOut) {
  for (const std::uint64_t seed : {0, 1, 2}) {
    const SceneGenerator generator({.held_out_seed = seed});
    int held_out = 0;
    for (int arrangement = 0; arrangement < kArrangements; ++arrangement) {
      for (int colour = 0; colour < kFigureColours; ++colour) {
        int shapes = 0;
        for (int figure = 0; figure < kFigures; ++figure) {
          shapes += generator.is_held_out(
              {static_cast<Figure>(figure), static_cast<FigureColour>(colour)},
              static_cast<Arrangement>(arrangement));
        }
        EXPECT_EQ(shapes, 1) << "of each colour in each arrangement";
        held_out += shapes;
      }
    }
    EXPECT_EQ(held_out * 5, kFigures * kFigureColours * kArrangements);
  }
}

TEST(Scenes, TheSeedChoosesWhatIsHeldOut) {
  EXPECT_NE(seen_in_training(SceneGenerator({.held_out_seed = 1}), kScenes),
            seen_in_training(SceneGenerator({.held_out_seed = 2}), kScenes));
}

TEST(Scenes, WhatIsHeldOutNeverOccursInTraining) {
  const SceneGenerator generator;
  const std::set<Combination> seen = seen_in_training(generator, kScenes);
  EXPECT_EQ(seen.size(), kFigures * kFigureColours * kArrangements * 4U / 5);
  std::set<Combination> tested;
  for (std::uint64_t i = 0; i < kScenes; ++i) {
    const Scene scene = generator.scene(ScenePart::held_out, i);
    EXPECT_TRUE(scene.held_out);
    const Combination subject = combinations(scene).front();
    EXPECT_FALSE(seen.contains(subject)) << caption(scene);
    tested.insert(subject);
  }
  EXPECT_EQ(tested.size(), kFigures * kFigureColours * kArrangements / 5U);
}

/// Both parts' scenes.
std::vector<Scene> scenes(std::uint64_t of_each) {
  const SceneGenerator generator;
  std::vector<Scene> result;
  for (std::uint64_t i = 0; i < of_each; ++i) {
    result.push_back(generator.scene(ScenePart::training, i));
    result.push_back(generator.scene(ScenePart::held_out, i));
  }
  return result;
}

TEST(Scenes, SayWhereThingsAre) {
  std::map<Arrangement, int> counts;
  for (const Scene& scene : scenes(500)) {
    ++counts[scene.arrangement];
    const SceneObject& first = scene.objects.front();
    const SceneObject& last = scene.objects.back();
    const double right = last.x - first.x, down = last.y - first.y;
    const double least = 1.7 * 32, level = 0.51 * 32;
    const std::string text = caption(scene);
    if (scene.arrangement == Arrangement::left_of) {
      EXPECT_TRUE(right > least && std::abs(down) < level) << text;
    } else if (scene.arrangement == Arrangement::right_of) {
      EXPECT_TRUE(-right > least && std::abs(down) < level) << text;
    } else if (scene.arrangement == Arrangement::above) {
      EXPECT_TRUE(down > least && std::abs(right) < level) << text;
    } else if (scene.arrangement == Arrangement::below) {
      EXPECT_TRUE(-down > least && std::abs(right) < level) << text;
    } else if (scene.arrangement == Arrangement::middle) {
      EXPECT_LT(std::hypot(first.x - 112, first.y - 112), 20) << text;
    } else if (scene.objects.size() == 1) {
      EXPECT_EQ(first.x < 112 - 25, text.ends_with("left")) << text;
      EXPECT_EQ(first.x > 112 + 25, text.ends_with("right")) << text;
      EXPECT_EQ(first.y < 112 - 25, text.find("the top") != std::string::npos) << text;
      EXPECT_EQ(first.y > 112 + 25, text.find("the bottom") != std::string::npos) << text;
    }
  }
  EXPECT_EQ(counts.size(), static_cast<std::size_t>(kArrangements));
}

TEST(Scenes, HaveOneRightSentence) {
  for (const Scene& scene : scenes(500)) {
    const SceneObject& first = scene.objects.front();
    const SceneObject& last = scene.objects.back();
    const std::string text = caption(scene);
    if (scene.arrangement >= Arrangement::two) {
      EXPECT_EQ(scene.objects.size(), text.starts_with("two ") ? 2U : 3U) << text;
      EXPECT_TRUE(first.kind == last.kind && first.large == last.large) << text;
    } else if (scene.objects.size() == 2) {
      EXPECT_FALSE(first.kind == last.kind) << text;
      EXPECT_TRUE(last.large || !first.large) << text;
      if (first.large == last.large) {
        EXPECT_TRUE(scene.arrangement == Arrangement::left_of ||
                    scene.arrangement == Arrangement::above)
            << text;
      }
    }
  }
}

TEST(Scenes, ObjectsAreLargeEnoughAndApart) {
  for (const Scene& scene : scenes(500)) {
    for (std::size_t i = 0; i < scene.objects.size(); ++i) {
      const SceneObject& object = scene.objects[i];
      const double half = object.width / 2;
      EXPECT_GE(object.width, object.large ? 83 : 48);
      EXPECT_LE(object.width, object.large ? 96 : 56);
      for (const double centre : {object.x, object.y}) {
        EXPECT_TRUE(centre - half > 3.9 && centre + half < 224 - 3.9) << caption(scene);
      }
      for (std::size_t j = 0; j < i; ++j) {
        const SceneObject& other = scene.objects[j];
        const double apart = std::max(std::abs(object.x - other.x), std::abs(object.y - other.y));
        EXPECT_GE(apart - half - other.width / 2, 7.9) << caption(scene);
      }
    }
  }
}

/// The words of a role, and the nouns among them marked.
std::string words_of(const Scene& scene, std::optional<Role> role) {
  std::string text;
  for (const SceneWord& word : scene.words) {
    if (word.role != role) continue;
    text += text.empty() ? "" : " ";
    text += word.noun ? "[" + word.text + "]" : word.text;
  }
  return text;
}

TEST(Scenes, WordsKnowTheirObjects) {
  std::set<Arrangement> met;
  for (const Scene& scene : scenes(200)) {
    met.insert(scene.arrangement);
    const SceneObject& first = scene.objects.front();
    const std::string kind = name(first.kind);
    const std::size_t space = kind.find(' ');
    const std::string size = first.large ? "large" : "small";
    const bool several = scene.objects.size() > 1 && scene.objects.back().role == Role::subject;
    const std::string determiner = !several ? "a" : scene.objects.size() == 2 ? "two" : "three";
    EXPECT_EQ(words_of(scene, Role::subject), determiner + " " + size + " " +
                                                  kind.substr(0, space) + " [" +
                                                  kind.substr(space + 1) + (several ? "s]" : "]"));
    if (scene.objects.back().role == Role::reference) {
      EXPECT_THAT(words_of(scene, Role::reference), testing::EndsWith("]"));
      EXPECT_THAT(words_of(scene, std::nullopt),
                  testing::AnyOf("left of", "right of", "above", "below"));
    } else {
      EXPECT_EQ(words_of(scene, Role::reference), "");
      EXPECT_EQ(words_of(scene, std::nullopt).empty(), several);
    }
  }
  EXPECT_EQ(met.size(), static_cast<std::size_t>(kArrangements));
}

TEST(Scenes, GrowWithThePicture) {
  const Scene small = SceneGenerator().scene(ScenePart::training, 3);
  const Scene large = SceneGenerator({.size = 448}).scene(ScenePart::training, 3);
  EXPECT_EQ(caption(large), caption(small));
  EXPECT_NEAR(large.objects[0].x, 2 * small.objects[0].x, 1e-9);
  EXPECT_NEAR(large.objects[0].width, 2 * small.objects[0].width, 1e-9);
  EXPECT_THROW(SceneGenerator({.size = 63}), UsageError);
  EXPECT_THROW(SceneGenerator({.size = 4097}), UsageError);
}

}  // namespace
}  // namespace vitascope::datasets
