#include "app/scratch_network.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <sstream>
#include <stdexcept>

#include "app/device.h"
#include "app/values.h"
#include "vit/error.h"
#include "vit/model/architectures.h"
#include "vit/text.h"
#include "vit/train/initial_weights.h"

namespace vitascope::app {
namespace {

// The compact vision transformer where no flag says otherwise: 7 x 7 tokens of a 28 x 28 picture.
constexpr int kWidth = 128;
constexpr int kDepth = 4;
constexpr int kHeads = 4;
constexpr int kPatch = 4;
constexpr double kMlpRatio = 2;
constexpr const char* kStem = "32,64,128";

/// "32,64" -> {32, 64}; "none" -> {}.
/// \throws UsageError
std::vector<int> parse_stem(const std::string& text) {
  std::vector<int> channels;
  if (text == "none") return channels;
  std::istringstream parts(text);
  for (std::string part; std::getline(parts, part, ',');) {
    const auto number = parse_whole<int>(part);
    if (!number || *number < 1) {
      throw UsageError(
          fmt::format("{} is no stem: expected the channels of its convolutions, as in "
                      "32,64, or none",
                      in_quotes(text)));
    }
    channels.push_back(*number);
  }
  return channels;
}

/// The flags of the compact network that were given.
std::vector<std::string> given_flags(const ScratchOptions& options) {
  std::vector<std::string> given;
  const auto add = [&](const char* name, bool is_given) {
    if (is_given) given.emplace_back(name);
  };
  add("--width", options.width.has_value());
  add("--depth", options.depth.has_value());
  add("--heads", options.heads.has_value());
  add("--patch", options.patch.has_value());
  add("--mlp-ratio", options.mlp_ratio.has_value());
  add("--stem", !options.stem.empty());
  add("--positions", !options.positions.empty());
  add("--pooling", !options.pooling.empty());
  return given;
}

model::Config compact_config(const ScratchOptions& options) {
  model::Config config;
  config.family = "vitascope";
  config.width = options.width.value_or(kWidth);
  config.depth = options.depth.value_or(kDepth);
  config.heads = options.heads.value_or(kHeads);
  config.mlp_width =
      static_cast<int>(std::lround(config.width * options.mlp_ratio.value_or(kMlpRatio)));
  config.patch = options.patch.value_or(kPatch);
  config.stem = parse_stem(options.stem.empty() ? kStem : options.stem);
  config.interpolation = model::PositionInterpolation::bicubic_antialias;
  config.learned_positions = options.positions != "sincos";
  config.class_token = options.pooling == "class";
  config.pooling = config.class_token ? model::Pooling::class_token : model::Pooling::mean_patches;
  config.position_prefix = config.prefix_tokens();
  return config;
}

model::Config timm_config(const std::string& name) {
  if (const auto config = model::architecture(name)) return *config;
  throw UsageError(fmt::format("{} is no architecture of timm that is known{}", in_quotes(name),
                               suggestion(name, model::architecture_names())));
}

/// What the pictures are resized to.
image::Size input_size(const ModelOptions& options, const model::Config& config,
                       const datasets::LabelledImages& images) {
  if (!options.input_size.empty()) return parse_size(options.input_size);
  if (!options.architecture.empty()) {
    return {config.native_grid.columns * config.patch, config.native_grid.rows * config.patch};
  }
  if (images.stored) return images.stored->size;
  throw UsageError("--scratch: nothing says the size of the network's input: give --input-size");
}

}  // namespace

void add_scratch_options(CLI::App& command, ScratchOptions& options) {
  const std::string group = "From scratch";
  const auto add = [&](const char* name, auto& value, const char* type, const char* help) {
    return command.add_option(name, value, help)->type_name(type)->group(group);
  };
  command
      .add_flag("--scratch", options.scratch,
                "no --model: a compact network, or --architecture, with random weights")
      ->group(group);
  add("--width", options.width, "N", "width of a token [default: 128]")
      ->check(whole_number(1, 16384));
  add("--depth", options.depth, "N", "blocks [default: 4]")->check(whole_number(1, 512));
  add("--heads", options.heads, "N", "of attention [default: 4]")->check(whole_number(1, 1024));
  add("--mlp-ratio", options.mlp_ratio, "X", "width of the MLP beside a token's [default: 2]")
      ->check(number(0.01, 64));
  add("--patch", options.patch, "N", "edge of a token's square in pixels [default: 4]")
      ->check(whole_number(1, 512));
  add("--stem", options.stem, "N,N,...|none",
      "channels of convolutions before it; the last halve the sides [default: 32,64,128]")
      ->check(accepted_by(parse_stem));
  add("--positions", options.positions, "learned|sincos", "position embeddings [default: learned]")
      ->check(one_of({"learned", "sincos"}));
  add("--pooling", options.pooling, "mean|class", "what the head reads [default: mean]")
      ->check(one_of({"mean", "class"}));
}

void check_scratch_options(const ScratchOptions& options, const ModelOptions& model) {
  const std::vector<std::string> given = given_flags(options);
  if (!options.scratch) {
    if (given.empty()) return;
    throw UsageError(
        fmt::format("{} describes a network that learns from nothing: expected "
                    "--scratch beside it, or no such flag",
                    given.front()));
  }
  if (!model.model.empty()) {
    throw UsageError(
        "--scratch begins with random weights and --model with learned ones: "
        "expected one of them");
  }
  if (!model.architecture.empty() && !given.empty()) {
    throw UsageError(fmt::format(
        "--architecture says what the network is: expected no {} beside it", given.front()));
  }
}

weights::Model scratch_model(const ScratchOptions& options, const ModelOptions& model,
                             const RunOptions& run, const datasets::LabelledImages& images,
                             RandomNumbers& random) {
  model::Config config =
      model.architecture.empty() ? compact_config(options) : timm_config(model.architecture);
  const image::Size input = input_size(model, config, images);
  config.position_grid =
      config.native_grid = {input.height / config.patch, input.width / config.patch};
  config.classes = static_cast<int>(images.classes.size());
  config.multi_label = images.multi_label;
  const at::Device device = open_device(run.device, run.verbose);
  apply_threads(run);
  weights::Model made;
  made.name = model.architecture.empty() ? "compact vision transformer" : model.architecture;
  made.labels = images.classes;
  made.specification.emplace();
  made.specification->size = input;
  apply_specification_flags(model, made);
  try {
    made.network = train::initial_network(config, random);
    model::patch_grid(config, input.height, input.width);
  } catch (const std::invalid_argument& error) {
    throw UsageError(fmt::format("--scratch: {}", error.what()));
  }
  move_to(made.network, device);
  return made;
}

}  // namespace vitascope::app
