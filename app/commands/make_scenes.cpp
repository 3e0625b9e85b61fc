#include "app/commands/make_scenes.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "app/drawing/write_picture.h"
#include "app/interrupt.h"
#include "app/output.h"
#include "app/progress.h"
#include "app/values.h"
#include "datasets/scene_picture.h"
#include "vit/error.h"
#include "vit/file.h"

namespace vitascope::app {
namespace {

namespace fs = std::filesystem;
using nlohmann::ordered_json;

struct Options {
  std::string folder;
  std::uint64_t count = 2000, validation = 200, held_out = 500;
  datasets::SceneOptions scenes;
  bool force = false, quiet = false;
};

/// Of a range of numbers the scenes of one split.
struct SceneSplit {
  const char* name;
  datasets::ScenePart part;
  std::uint64_t first, count;
};

/// Positions of the words that are about objects of that role.
std::vector<std::size_t> words_about(const datasets::Scene& scene, datasets::Role role) {
  std::vector<std::size_t> positions;
  for (std::size_t i = 0; i < scene.words.size(); ++i) {
    if (scene.words[i].role == role) positions.push_back(i);
  }
  return positions;
}

/// [x, y, width, height] of a polygon.
std::array<double, 4> box_of(const std::vector<double>& polygon) {
  double left = polygon[0], right = left, top = polygon[1], bottom = top;
  for (std::size_t i = 0; i + 1 < polygon.size(); i += 2) {
    left = std::min(left, polygon[i]);
    right = std::max(right, polygon[i]);
    top = std::min(top, polygon[i + 1]);
    bottom = std::max(bottom, polygon[i + 1]);
  }
  return {left, top, right - left, bottom - top};
}

/// The area of a polygon by the shoelace formula.
double area_of(const std::vector<double>& polygon) {
  double twice = 0;
  const std::size_t count = polygon.size();
  for (std::size_t i = 0; i + 1 < count; i += 2) {
    twice += polygon[i] * polygon[(i + 3) % count] - polygon[(i + 2) % count] * polygon[i + 1];
  }
  return std::abs(twice) / 2;
}

/// The two files beside the pictures, as they grow.
class SceneFiles {
 public:
  SceneFiles() : captions_{{"dataset", "scenes"}, {"images", ordered_json::array()}} {
    for (const char* key : {"images", "categories", "annotations"}) {
      instances_[key] = ordered_json::array();
    }
  }

  void add(const datasets::Scene& scene, const std::string& file, const std::string& split) {
    const std::size_t id = captions_["images"].size();
    ordered_json tokens = ordered_json::array();
    for (const datasets::SceneWord& word : scene.words) tokens.push_back(word.text);
    ordered_json sentence{
        {"tokens", tokens}, {"raw", datasets::caption(scene)}, {"imgid", id}, {"sentid", id}};
    captions_["images"].push_back({{"filepath", "images"},
                                   {"filename", file},
                                   {"imgid", id},
                                   {"cocoid", id},
                                   {"split", split},
                                   {"sentences", ordered_json::array({sentence})}});
    instances_["images"].push_back(
        {{"id", id}, {"file_name", file}, {"width", scene.size}, {"height", scene.size}});
    for (const datasets::SceneObject& object : scene.objects) add_object(scene, object, id);
  }

  void write(const Options& options) const {
    write_file(options.folder + "/instances.json", options.force, instances_.dump() + "\n");
    write_file(options.folder + "/captions.json", options.force, captions_.dump() + "\n");
  }

 private:
  void add_object(const datasets::Scene& scene, const datasets::SceneObject& object,
                  std::size_t image) {
    const std::vector<double> polygon = datasets::outline(object).polygons.front();
    instances_["annotations"].push_back({{"id", instances_["annotations"].size() + 1},
                                         {"image_id", image},
                                         {"category_id", category(datasets::name(object.kind))},
                                         {"segmentation", {polygon}},
                                         {"bbox", box_of(polygon)},
                                         {"area", area_of(polygon)},
                                         {"iscrowd", 0},
                                         {"words", words_about(scene, object.role)}});
  }

  std::size_t category(const std::string& name) {
    ordered_json& known = instances_["categories"];
    for (const ordered_json& one : known) {
      if (one["name"] == name) return one["id"];
    }
    known.push_back({{"id", known.size() + 1}, {"name", name}});
    return known.size();
  }

  ordered_json captions_, instances_;
};

void make_folder(const Options& options) {
  std::error_code error;
  fs::create_directories(fs::path(options.folder) / "images", error);
  if (error) {
    throw UsageError(fmt::format("{} can't be made: {}; expected a folder to write to",
                                 in_quotes(options.folder), error.message()));
  }
  check_writable(options.folder + "/captions.json", options.force);
  check_writable(options.folder + "/instances.json", options.force);
}

int make_scenes(const Options& options) {
  const datasets::SceneGenerator generator(options.scenes);
  make_folder(options);
  using datasets::ScenePart;
  const SceneSplit splits[] = {{"train", ScenePart::training, 0, options.count},
                               {"val", ScenePart::training, options.count, options.validation},
                               {"test", ScenePart::held_out, 0, options.held_out}};
  SceneFiles files;
  const Interrupt interrupt;
  Progress progress(options.count + options.validation + options.held_out, options.quiet);
  std::size_t done = 0;
  for (const SceneSplit& split : splits) {
    for (std::uint64_t i = 0; i < split.count; ++i) {
      if (interrupt.requested()) return 130;
      const datasets::Scene scene = generator.scene(split.part, split.first + i);
      const std::string file = fmt::format("{}_{:06}.png", split.name, i);
      drawing::write_picture(fmt::format("{}/images/{}", options.folder, file),
                             drawing::Canvas(datasets::draw(scene)), options.force);
      files.add(scene, file, split.name);
      progress.show(++done);
    }
  }
  files.write(options);
  progress.clear();
  output::print(fmt::format("{}: {} scenes for training, {} for validation, {} held out\n",
                            options.folder, options.count, options.validation, options.held_out));
  return 0;
}

constexpr const char* kExamples =
    R"(Coloured shapes on a light ground, with one right sentence each: "a small red circle left of a large
blue square", "a large green star in the top left", "three small black diamonds". A fifth of all
combinations of shape, colour and arrangement never occurs in training and validation; the scenes
held out (split test) have nothing else.
DIR gets images/, captions.json (Karpathy's format, for train-captioner --data) and instances.json
(COCO's format: the outline of every object, and in "words" the positions of the caption's words that
are about it).

Examples:
  vitascope make-scenes scenes
  vitascope make-scenes more --count 20000 --validation 0 --held-out 0 --seed 1)";

}  // namespace

std::function<int()> declare_make_scenes(CLI::App& command) {
  const auto options = std::make_shared<Options>();
  const std::string scenes = "Scenes";
  const auto number_of = [&](const char* name, std::uint64_t& value, const char* help, long least) {
    command.add_option(name, value, help)
        ->type_name("N")
        ->check(whole_number(least, 10'000'000))
        ->group(scenes);
  };
  command.add_option("folder", options->folder, "the folder to make")
      ->type_name("DIR")
      ->group(scenes);
  number_of("--count", options->count, "scenes for training", 1);
  number_of("--validation", options->validation, "more scenes of the same kind", 0);
  number_of("--held-out", options->held_out, "scenes with what never occurs in training", 0);
  command.add_option("--size", options->scenes.size, "width and height of the pictures")
      ->type_name("PIXELS")
      ->check(whole_number(64, 4096))
      ->group(scenes);
  command.add_option("--seed", options->scenes.seed, "of the scenes")
      ->type_name("N")
      ->group(scenes);
  command
      .add_option("--held-out-seed", options->scenes.held_out_seed,
                  "of what never occurs in training")
      ->type_name("N")
      ->group(scenes);
  const std::string running = "Running";
  command.add_flag("--force", options->force, "overwrite what is there")->group(running);
  command.add_flag("-q,--quiet", options->quiet, "no progress")->group(running);
  command.footer(kExamples);
  return [options] {
    if (options->folder.empty()) {
      throw UsageError("no folder: expected 'vitascope make-scenes DIR'");
    }
    return make_scenes(*options);
  };
}

}  // namespace vitascope::app
