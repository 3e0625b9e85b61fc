#include "vit/weights/model_directory.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <map>
#include <stdexcept>

#include "vit/error.h"
#include "vit/image/specification_reader.h"
#include "vit/model/architectures.h"
#include "vit/text.h"
#include "vit/weights/config_reader.h"
#include "vit/weights/key_map.h"
#include "vit/weights/labels.h"
#include "vit/weights/model_locator.h"
#include "vit/weights/tensor_assembly.h"
#include "vit/weights/weight_files.h"

namespace vitascope::weights {
namespace {

enum class Kind { transformers, timm, vitascope, npz, bare };

/// A model's files, read but not yet turned into a network.
struct Opened {
  ModelFiles files;
  StoredTensors tensors;
  KeyStyle style = KeyStyle::timm;
  Kind kind = Kind::bare;
  Json config;  ///< of config.json; null where there is none
};

Kind kind_of(const Json& config, const std::string& path) {
  if (config.is_object() && config.contains("model_type")) {
    return config["model_type"] == "vitascope" ? Kind::vitascope : Kind::transformers;
  }
  if (config.is_object() && config.contains("architecture")) return Kind::timm;
  throw InputError(path,
                   "has neither 'model_type' (transformers) nor 'architecture' (timm): expected "
                   "the configuration of a vision transformer");
}

Opened read_files(const std::string& model, const OpenOptions& options) {
  Opened opened;
  opened.files = locate_model(model);
  opened.tensors = read_agreeing_weights(opened.files);
  const std::string& weights = opened.files.weights.front();
  opened.style = detect_key_style(opened.tensors, weights);
  if (opened.style == KeyStyle::augreg) {
    // The shapes say all; a configuration beside it could only contradict them.
    opened.kind = Kind::npz;
  } else if (!opened.files.config.empty()) {
    opened.config = read_json(opened.files.config);
    opened.kind = kind_of(opened.config, opened.files.config);
  } else if (options.architecture.empty()) {
    throw InputError(weights,
                     "has no config.json beside it, which says what model it is: name the "
                     "architecture, as in --architecture vit_base_patch16_224");
  }
  if (!options.architecture.empty() && opened.kind != Kind::bare) {
    throw UsageError(fmt::format(
        "--architecture is for a weight file without a configuration, but {} describes the model: "
        "leave the flag out",
        printable(opened.kind == Kind::npz ? weights : opened.files.config)));
  }
  const bool timm_names = opened.style == KeyStyle::timm;
  const bool wants_timm_names = opened.kind == Kind::timm || opened.kind == Kind::vitascope;
  if ((wants_timm_names && !timm_names) || (opened.kind == Kind::transformers && timm_names)) {
    throw InputError(weights,
                     fmt::format("has tensors named as in {}, but {} is a configuration of "
                                 "{}: expected both of one library",
                                 key_style_name(opened.style), printable(opened.files.config),
                                 opened.kind == Kind::timm           ? "timm"
                                 : opened.kind == Kind::transformers ? "transformers"
                                                                     : "this program"));
  }
  return opened;
}

Description describe(const Opened& opened, const OpenOptions& options) {
  const std::string& weights = opened.files.weights.front();
  switch (opened.kind) {
    case Kind::transformers:
      return describe_transformers(opened.config, opened.files.config, opened.tensors);
    case Kind::timm:
      return describe_timm(opened.config, opened.files.config, opened.tensors);
    case Kind::vitascope:
      return describe_vitascope(opened.config, opened.files.config);
    case Kind::npz:
      return describe_npz(opened.tensors, weights);
    case Kind::bare:
      return describe_architecture(options.architecture, opened.tensors, weights);
  }
  throw InternalError("describe: not a kind");
}

/// How timm's library of the AugReg collection prepares pictures, which the .npz leave unsaid.
image::Specification augreg_specification(const model::Config& config, std::string source) {
  const int height = config.native_grid.rows * config.patch;
  const int width = config.native_grid.columns * config.patch;
  const Json implied = {{"input_size", {3, height, width}},
                        {"crop_pct", height >= 384 ? 1.0 : 0.9},
                        {"interpolation", "bicubic"},
                        {"mean", {0.5, 0.5, 0.5}},
                        {"std", {0.5, 0.5, 0.5}}};
  image::Specification specification = image::specification_from_timm(implied, source);
  specification.source = std::move(source);
  return specification;
}

/// \throws InputError naming what the files lack
image::Specification read_specification(const Opened& opened, const OpenOptions& options,
                                        const model::Config& config) {
  const auto transformers = [](const std::string& path) {
    return image::specification_from_transformers(read_json(path), path);
  };
  if (!options.preprocessor_file.empty()) return transformers(options.preprocessor_file);
  if (!opened.files.preprocessor.empty()) return transformers(opened.files.preprocessor);
  if (opened.kind == Kind::timm) {
    return image::specification_from_timm(
        opened.config.contains("pretrained_cfg") ? opened.config["pretrained_cfg"] : opened.config,
        opened.files.config);
  }
  if (opened.kind == Kind::npz) {
    return augreg_specification(config, "implied by the AugReg collection (the .npz does not say)");
  }
  throw InputError(opened.files.folder,
                   "has no preprocessor_config.json, which says how pictures are prepared: give "
                   "one with --preprocessor FILE");
}

void add_specification(Model& model, const Opened& opened, const OpenOptions& options,
                       model::Config& config) {
  try {
    model.specification = read_specification(opened, options, config);
    if (!options.preprocessor_file.empty()) {
      model.files.push_back(options.preprocessor_file);
    } else if (!opened.files.preprocessor.empty()) {
      model.files.push_back(opened.files.preprocessor);
    }
  } catch (const InputError& error) {
    // Most commands can't go on, but `info` and `benchmark` can.
    if (!options.preprocessor_file.empty()) throw;
    model.specification_missing = error.what();
  }
  std::optional<image::Size> input = options.input_size;
  if (model.specification) {
    if (input) model.specification = image::with_input_size(*model.specification, *input);
    input = image::output_size(*model.specification);
  }
  if (!input) return;
  // The grid of what the network will see; a size that no grid of patches fits is told when a
  // picture comes.
  if (input->height >= config.patch && input->width >= config.patch) {
    config.native_grid = {input->height / config.patch, input->width / config.patch};
  }
}

bool mentions_imagenet(std::string text) {
  while (text.ends_with('/')) text.pop_back();
  // Folders above say nothing of the model.
  text = lower_case(text.substr(text.find_last_of('/') + 1));
  return std::ranges::any_of(
      std::array{"imagenet", "in1k", "in12k", "in21k", "in22k"},
      [&](const char* word) { return text.find(word) != std::string::npos; });
}

void add_labels(Model& model, Description& description, const OpenOptions& options) {
  const int classes = description.config.classes;
  if (classes == 0) return;
  if (!options.labels_file.empty()) {
    model.labels = read_labels(options.labels_file, classes);
    model.label_source = options.labels_file;
    return;
  }
  if (!description.labels.empty()) {
    model.labels = std::move(description.labels);
    model.label_source = std::move(description.label_source);
    return;
  }
  std::string why = "the model's files name no classes";
  const std::string list = built_in_list(classes);
  if (!list.empty() && (description.imagenet || mentions_imagenet(model.name))) {
    std::vector<std::string> labels = built_in_labels(list);
    if (labels.size() == static_cast<std::size_t>(classes)) {
      model.labels = std::move(labels);
      model.label_source = fmt::format("built-in list {}", list);
      return;
    }
    why += fmt::format(", and the list {} is not installed (app/setup.sh brings it)", list);
  }
  for (int i = 0; i < classes; ++i) model.labels.push_back(std::to_string(i));
  model.label_source = fmt::format("plain indices: {}; --labels FILE gives names", why);
}

/// The types of the tensors that are used, the commonest first: "F32", "BF16, F32".
std::string stored_types(const StoredTensors& tensors, const std::vector<Assignment>& assignments) {
  std::map<std::string, int> counts;
  for (const Assignment& assignment : assignments) {
    for (const std::string& source : assignment.sources) {
      ++counts[dtype_name(tensors.tensors.at(source).dtype)];
    }
  }
  std::vector<std::pair<int, std::string>> ordered;
  ordered.reserve(counts.size());
  for (const auto& [name, count] : counts) ordered.emplace_back(-count, name);
  std::ranges::sort(ordered);
  std::vector<std::string> names;
  names.reserve(ordered.size());
  for (auto& [count, name] : ordered) names.push_back(std::move(name));
  return fmt::format("{}", fmt::join(names, ", "));
}

void append(std::vector<std::string>& to, const std::vector<std::string>& more) {
  to.insert(to.end(), more.begin(), more.end());
}

}  // namespace

Model open_model(const std::string& name, const OpenOptions& options) {
  const Opened opened = read_files(name, options);
  Description description = describe(opened, options);
  Model model;
  model.name = name;
  model.files = opened.tensors.files;
  if (!opened.files.config.empty() && opened.kind != Kind::npz) {
    model.files.push_back(opened.files.config);
  }
  model.key_style = opened.kind == Kind::vitascope ? "vitascope" : key_style_name(opened.style);
  append(model.notes, opened.files.notes);
  append(model.notes, opened.tensors.notes);
  append(model.notes, description.notes);
  const std::vector<Assignment> assignments = map_keys(
      opened.tensors, description.config, opened.style, opened.files.weights.front(), model.notes);
  model.stored_dtype = stored_types(opened.tensors, assignments);
  add_specification(model, opened, options, description.config);
  add_labels(model, description, options);
  try {
    model.network = model::VisionTransformer(description.config);
  } catch (const std::invalid_argument& error) {
    // The configuration was sound; the size of the pictures came after it.
    throw InputError(opened.files.folder, error.what());
  }
  assemble(opened.tensors, assignments, options.precision, options.pack, model.network);
  return model;
}

Model random_model(const std::string& architecture, const OpenOptions& options) {
  auto config = model::architecture(architecture);
  if (!config) {
    const std::string nearest =
        nearest_name(architecture.substr(0, architecture.find('.')), model::architecture_names());
    throw UsageError(
        fmt::format("'{}' is no known architecture: expected a plain vision transformer of timm{}",
                    printable(architecture),
                    nearest.empty() ? ", such as vit_base_patch16_224"
                                    : fmt::format("; the nearest is '{}'", nearest)));
  }
  Model model;
  model.name = architecture;
  model.key_style = "none: random weights";
  model.stored_dtype = "F32";
  model.specification = augreg_specification(*config, "assumed for random weights");
  if (options.input_size) {
    model.specification = image::with_input_size(*model.specification, *options.input_size);
    config->native_grid = {options.input_size->height / config->patch,
                           options.input_size->width / config->patch};
  }
  try {
    model::validate(*config);
  } catch (const std::invalid_argument& error) {
    throw UsageError(fmt::format("{}: {}", printable(architecture), error.what()));
  }
  Description description;
  description.config = *config;
  add_labels(model, description, options);
  model.network = model::VisionTransformer(*config);
  assemble_random(options.precision, options.pack, model.network);
  return model;
}

}  // namespace vitascope::weights
