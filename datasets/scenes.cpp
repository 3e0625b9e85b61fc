#include "datasets/scenes.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <utility>

#include "vit/error.h"

namespace vitascope::datasets {
namespace {

constexpr std::array<const char*, kFigures> kFigureNames{"circle", "square", "triangle", "diamond",
                                                         "star"};
constexpr std::array<const char*, kFigureColours> kColourNames{"red",    "green",  "blue",
                                                               "yellow", "purple", "black"};
constexpr std::array<std::array<int, 3>, kFigureColours> kRgb{
    {{214, 39, 40}, {40, 155, 50}, {35, 90, 205}, {242, 200, 25}, {145, 60, 190}, {25, 25, 28}}};
constexpr int kColourJitter = 12;

constexpr std::array<const char*, kArrangements> kPhrases{"left of",
                                                          "right of",
                                                          "above",
                                                          "below",
                                                          "in the top left",
                                                          "in the top right",
                                                          "in the bottom left",
                                                          "in the bottom right",
                                                          "in the middle",
                                                          "two",
                                                          "three"};

// Lengths are in sevenths of the picture, which are the cells of a network that sees 224 pixels
// through a stride of 32.
constexpr double kCells = 7;
constexpr double kGap = 0.25;  ///< least distance between objects, and to the border

constexpr int kKinds = kFigures * kFigureColours;

FigureKind kind_of(int number) {
  return {static_cast<Figure>(number % kFigures), static_cast<FigureColour>(number / kFigures)};
}

/// One of the kinds that fit.
template <typename Fits>
FigureKind random_kind(RandomNumbers& random, const Fits& fits) {
  for (;;) {
    const FigureKind kind = kind_of(static_cast<int>(random.below(kKinds)));
    if (fits(kind)) return kind;
  }
}

bool is_relation(Arrangement arrangement) { return arrangement <= Arrangement::below; }
bool is_count(Arrangement arrangement) { return arrangement >= Arrangement::two; }
bool is_across(Arrangement arrangement) { return arrangement <= Arrangement::right_of; }

/// How the second object lies to the first.
Arrangement converse(Arrangement relation) {
  return static_cast<Arrangement>(static_cast<int>(relation) ^ 1);
}

/// Six of ten scenes compare, two place, two count.
Arrangement random_arrangement(RandomNumbers& random) {
  const std::int64_t group = random.below(10);
  if (group < 6) return static_cast<Arrangement>(random.below(4));
  if (group < 8) return static_cast<Arrangement>(4 + random.below(5));
  return static_cast<Arrangement>(9 + random.below(2));
}

double between(RandomNumbers& random, double low, double high) {
  return low + random.uniform() * (high - low);
}

SceneObject random_object(RandomNumbers& random, const FigureKind& kind, bool large, Role role) {
  SceneObject object{.kind = kind, .large = large, .role = role};
  object.width = large ? between(random, 2.6, 3) : between(random, 1.5, 1.75);
  const auto& rgb = kRgb[static_cast<std::size_t>(kind.colour)];
  for (std::size_t channel = 0; channel < rgb.size(); ++channel) {
    const auto jitter = static_cast<int>(random.below(2 * kColourJitter + 1)) - kColourJitter;
    object.rgb[channel] = static_cast<std::uint8_t>(std::clamp(rgb[channel] + jitter, 0, 255));
  }
  return object;
}

/// Small beside large, or two of a size where the first is the left or the upper one.
std::pair<bool, bool> random_sizes(RandomNumbers& random, Arrangement relation) {
  const bool first_leads = relation == Arrangement::left_of || relation == Arrangement::above;
  switch (first_leads ? random.below(3) : 0) {
    case 0:
      return {false, true};
    case 1:
      return {false, false};
    default:
      return {true, true};
  }
}

/// Two objects one after the other along an axis, about level on the other one.
void place_pair(RandomNumbers& random, Arrangement relation, SceneObject& subject,
                SceneObject& reference) {
  const bool subject_first = relation == Arrangement::left_of || relation == Arrangement::above;
  SceneObject& first = subject_first ? subject : reference;
  SceneObject& second = subject_first ? reference : subject;
  const double room = kCells - first.width - second.width - 3 * kGap;
  const auto [before, until] = std::minmax({between(random, 0, room), between(random, 0, room)});
  const double along_first = kGap + before + first.width / 2;
  const double along_second = 2 * kGap + until + first.width + second.width / 2;
  const double half = std::max(first.width, second.width) / 2 + kGap;
  const double level = between(random, half, kCells - half);
  const auto near_level = [&](const SceneObject& object) {
    const double own = object.width / 2 + kGap;
    return std::clamp(level + between(random, -0.25, 0.25), own, kCells - own);
  };
  const bool across = is_across(relation);
  const auto place = [&](SceneObject& object, double along) {
    const double level_here = near_level(object);
    object.x = across ? along : level_here;
    object.y = across ? level_here : along;
  };
  place(first, along_first);
  place(second, along_second);
}

void place_alone(RandomNumbers& random, Arrangement place, SceneObject& object) {
  if (place == Arrangement::middle) {
    object.x = between(random, 3.1, 3.9);
    object.y = between(random, 3.1, 3.9);
    return;
  }
  constexpr double kFarthest = 2.6;  // from the edges: clear of the middle
  const double nearest = object.width / 2 + kGap;
  const double x = between(random, nearest, kFarthest), y = between(random, nearest, kFarthest);
  const bool right = place == Arrangement::top_right || place == Arrangement::bottom_right;
  const bool bottom = place >= Arrangement::bottom_left;
  object.x = right ? kCells - x : x;
  object.y = bottom ? kCells - y : y;
}

/// Each in a quarter of its own.
void place_several(RandomNumbers& random, std::vector<SceneObject>& objects) {
  constexpr double kQuarter = kCells / 2;
  const std::vector<std::int64_t> quarters = random.permutation(4);
  for (std::size_t i = 0; i < objects.size(); ++i) {
    const double free = (kQuarter - objects[i].width - kGap) / 2;
    const std::int64_t column = quarters[i] % 2, row = quarters[i] / 2;
    objects[i].x = kQuarter * (static_cast<double>(column) + 0.5) + between(random, -free, free);
    objects[i].y = kQuarter * (static_cast<double>(row) + 0.5) + between(random, -free, free);
  }
}

/// One object somewhere, or several of a kind and size.
void add_alike(RandomNumbers& random, const FigureKind& kind, Scene& scene) {
  const bool several = is_count(scene.arrangement);
  const int count =
      several ? 2 + static_cast<int>(scene.arrangement) - static_cast<int>(Arrangement::two) : 1;
  const bool large = random.below(2) == 1;
  scene.objects.reserve(static_cast<std::size_t>(count));
  for (int i = 0; i < count; ++i) {
    scene.objects.push_back(random_object(random, kind, large, Role::subject));
  }
  if (several) {
    place_several(random, scene.objects);
  } else {
    place_alone(random, scene.arrangement, scene.objects.front());
  }
}

/// Appends the words of a phrase with spaces between.
void say(std::vector<SceneWord>& words, const std::string& phrase) {
  for (std::size_t begin = 0; begin <= phrase.size();) {
    const std::size_t end = std::min(phrase.find(' ', begin), phrase.size());
    words.push_back({.text = phrase.substr(begin, end - begin)});
    begin = end + 1;
  }
}

void say_object(std::vector<SceneWord>& words, const SceneObject& object, bool several,
                const std::string& determiner) {
  const std::size_t begin = words.size();
  say(words, fmt::format("{} {} {}{}", determiner, object.large ? "large" : "small",
                         name(object.kind), several ? "s" : ""));
  for (std::size_t i = begin; i < words.size(); ++i) words[i].role = object.role;
  words.back().noun = true;
}

std::vector<SceneWord> words_of(const Scene& scene) {
  std::vector<SceneWord> words;
  const std::string phrase = kPhrases[static_cast<std::size_t>(scene.arrangement)];
  const bool several = is_count(scene.arrangement);
  say_object(words, scene.objects.front(), several, several ? phrase : "a");
  if (!several) say(words, phrase);
  if (is_relation(scene.arrangement)) say_object(words, scene.objects.back(), false, "a");
  return words;
}

}  // namespace

std::string name(const FigureKind& kind) {
  return fmt::format("{} {}", kColourNames[static_cast<std::size_t>(kind.colour)],
                     kFigureNames[static_cast<std::size_t>(kind.figure)]);
}

std::string caption(const Scene& scene) {
  std::string text;
  for (const SceneWord& word : scene.words) {
    if (!text.empty()) text += ' ';
    text += word.text;
  }
  return text;
}

SceneGenerator::SceneGenerator(const SceneOptions& options) : options_(options) {
  constexpr int kSmallest = 64, kLargest = 4096;
  if (options.size < kSmallest || options.size > kLargest) {
    throw UsageError(fmt::format("scenes of {} pixels can't be drawn: expected {} to {}",
                                 options.size, kSmallest, kLargest));
  }
  RandomNumbers random(combined_seed({options.held_out_seed}));
  figures_ = random.permutation(kFigures);
  colours_ = random.permutation(kFigureColours);
}

bool SceneGenerator::is_held_out(const FigureKind& kind, Arrangement arrangement) const {
  // A Latin square: in each arrangement every colour lacks one shape, another one in the next.
  const std::int64_t diagonal = figures_[static_cast<std::size_t>(kind.figure)] +
                                colours_[static_cast<std::size_t>(kind.colour)] +
                                static_cast<std::int64_t>(arrangement);
  return diagonal % kFigures == 0;
}

void SceneGenerator::add_pair(RandomNumbers& random, const FigureKind& kind, Scene& scene) const {
  const FigureKind other = random_kind(random, [&](const FigureKind& candidate) {
    const bool unseen = is_held_out(candidate, converse(scene.arrangement));
    return candidate != kind && (scene.held_out || !unseen);
  });
  const auto [large, other_large] = random_sizes(random, scene.arrangement);
  scene.objects = {random_object(random, kind, large, Role::subject),
                   random_object(random, other, other_large, Role::reference)};
  place_pair(random, scene.arrangement, scene.objects[0], scene.objects[1]);
}

Scene SceneGenerator::scene(ScenePart part, std::uint64_t index) const {
  const std::uint64_t seed =
      combined_seed({options_.seed, static_cast<std::uint64_t>(part), index});
  RandomNumbers random(seed);
  Scene scene;
  scene.arrangement = random_arrangement(random);
  scene.held_out = part == ScenePart::held_out;
  scene.size = options_.size;
  scene.seed = seed;
  const FigureKind kind = random_kind(random, [&](const FigureKind& candidate) {
    return is_held_out(candidate, scene.arrangement) == scene.held_out;
  });
  if (is_relation(scene.arrangement)) {
    add_pair(random, kind, scene);
  } else {
    add_alike(random, kind, scene);
  }
  for (SceneObject& object : scene.objects) {
    for (double* length : {&object.x, &object.y, &object.width}) *length *= scene.size / kCells;
  }
  scene.words = words_of(scene);
  return scene;
}

}  // namespace vitascope::datasets
