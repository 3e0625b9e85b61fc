#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "vit/random_numbers.h"

/// \file
/// Scenes of coloured shapes with the sentence that describes them: as many as are wanted, each
/// from its number, and what every word means is known to the pixel. See scene_picture.h.
namespace vitascope::datasets {

/// The shapes that there are.
enum class Figure { circle, square, triangle, diamond, star };
/// In colours that are told apart on a light ground.
enum class FigureColour { red, green, blue, yellow, purple, black };
inline constexpr int kFigures = 5, kFigureColours = 6;

/// A colour and a shape: "red circle".
struct FigureKind {
  Figure figure = Figure::circle;
  FigureColour colour = FigureColour::red;
  bool operator==(const FigureKind&) const = default;
};

/// How the objects lie.
enum class Arrangement {
  left_of,  ///< the first four: one object and another one
  right_of,
  above,
  below,
  top_left,  ///< one object alone
  top_right,
  bottom_left,
  bottom_right,
  middle,
  two,  ///< several that are alike
  three,
};
inline constexpr int kArrangements = 11;

/// What a phrase of the sentence is about: the objects that it names first, or the one that these
/// are compared with.
enum class Role { subject, reference };

/// A shape in the picture.
struct SceneObject {
  FigureKind kind;
  bool large = false;
  Role role = Role::subject;
  double x = 0, y = 0;  ///< centre, in pixels
  double width = 0;     ///< of the box that it lies in, in pixels
  std::array<std::uint8_t, 3> rgb{};
};

/// A word of the sentence, and which objects it is about; relations and places are about none.
struct SceneWord {
  std::string text;
  std::optional<Role> role = std::nullopt;
  bool noun = false;  ///< the name of a shape
};

/// A picture that could be drawn.
struct Scene {
  Arrangement arrangement = Arrangement::middle;
  bool held_out = false;   ///< never seen in training, see SceneGenerator
  int size = 0;            ///< pixels each way
  std::uint64_t seed = 0;  ///< of the background
  std::vector<SceneObject> objects;
  std::vector<SceneWord> words;
};

/// The sentence of a scene: its words with spaces between.
std::string caption(const Scene& scene);
/// "red circle"
std::string name(const FigureKind& kind);

/// What the scenes depend on.
struct SceneOptions {
  int size = 224;                   ///< pixels each way, 64 to 4096
  std::uint64_t seed = 0;           ///< of the scenes
  std::uint64_t held_out_seed = 0;  ///< of what never occurs in training
};

/// Scenes for learning, and those that only a test has.
enum class ScenePart { training, held_out };

/// Makes scenes. One fifth of all combinations of shape, colour and arrangement is held out: no
/// training scene has one, neither as what it is about nor, seen from the other object, as what
/// that is compared with ("a red circle left of a blue square" shows a blue square right of
/// something too). In each arrangement every colour lacks one of the five shapes, so that all parts
/// of what is held out are known from training.
///
/// A picture has one right sentence: of two objects the smaller one is the subject, of two of the
/// same size the left or the upper one. Small objects are 1.5 to 1.75 sevenths of the picture wide,
/// large ones 2.6 to 3: of 224 pixels 48 to 56 and 83 to 96. They never touch.
class SceneGenerator {
 public:
  /// \throws UsageError when the size is out of range
  explicit SceneGenerator(const SceneOptions& options = {});

  /// The scene of that number, the same whenever it is made. Of `held_out` each has a subject that
  /// is held out in its arrangement.
  Scene scene(ScenePart part, std::uint64_t index) const;

  bool is_held_out(const FigureKind& kind, Arrangement arrangement) const;

 private:
  void add_pair(RandomNumbers& random, const FigureKind& kind, Scene& scene) const;

  SceneOptions options_;
  std::vector<std::int64_t> figures_, colours_;  ///< places of each in a random order
};

}  // namespace vitascope::datasets
