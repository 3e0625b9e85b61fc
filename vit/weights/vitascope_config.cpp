#include <algorithm>
#include <stdexcept>
#include <string>
#include <string_view>

#include "vit/error.h"
#include "vit/json_object.h"
#include "vit/weights/config_reader.h"
#include "vit/weights/labels.h"
#include "vit/weights/vitascope_keys.h"

namespace vitascope::weights {
namespace {

using model::Config;

/// Bounds the numbers that are read; model::validate has the real bounds.
constexpr int kMost = 1 << 20;

/// Beside kSwitchKeys. A key that is in neither would be a part that we don't build.
constexpr std::string_view kKeys[] = {"model_type",
                                      "hidden_size",
                                      "num_hidden_layers",
                                      "num_attention_heads",
                                      "intermediate_size",
                                      "patch_size",
                                      "image_size",
                                      "stem_channels",
                                      "registers",
                                      "position_prefix",
                                      "position_interpolation",
                                      "hidden_act",
                                      "layer_norm_eps",
                                      "pooling",
                                      "neighbours",
                                      "num_labels",
                                      "id2label",
                                      "label2id",
                                      "problem_type"};

/// \param what "numbers of ...", for the complaint
std::vector<int> numbers_of(const JsonObject& values, const char* key, int lowest,
                            std::size_t longest, const char* what) {
  const Json& list = values.value(key);
  std::vector<int> numbers;
  const auto fits = [lowest](const Json& number) {
    return number.is_number_integer() && number >= lowest && number <= kMost;
  };
  if (!list.is_array() || list.size() > longest || !std::ranges::all_of(list, fits)) {
    values.fail(key, std::string("a list of ") + what);
  }
  numbers.reserve(list.size());
  for (const Json& number : list) numbers.push_back(number.get<int>());
  return numbers;
}

/// What a word means.
template <typename Value, std::size_t N>
Value meaning_of(const JsonObject& values, const char* key, const Word<Value> (&words)[N],
                 std::optional<std::string> fallback = std::nullopt) {
  const std::string text = values.text(key, std::move(fallback));
  std::string expected;
  for (const Word<Value>& word : words) {
    if (text == word.text) return word.value;
    if (!expected.empty()) expected += ", ";
    expected += word.text;
  }
  values.fail(key, "one of " + expected);
}

std::optional<model::NeighbourVote> neighbours_of(const JsonObject& values) {
  if (!values.has("neighbours")) return std::nullopt;
  const JsonObject vote = values.object("neighbours");
  for (const std::string& key : vote.keys()) {
    if (key != "count" && key != "temperature" && key != "photos") vote.fail(key, "no such key");
  }
  return model::NeighbourVote{
      .count = vote.integer("count", 1, kMost),
      .temperature = vote.number("temperature"),
      .photos = numbers_of(vote, "photos", 0, kMost, "numbers of photos, one a class")};
}

Config network_of(const JsonObject& values) {
  Config config;
  config.family = "vitascope";
  config.width = values.integer("hidden_size", 1, kMost);
  config.depth = values.integer("num_hidden_layers", 1, kMost);
  config.heads = values.integer("num_attention_heads", 1, kMost);
  config.mlp_width = values.integer("intermediate_size", 1, kMost);
  config.patch = values.integer("patch_size", 1, kMost);
  constexpr std::size_t kLongestStem = 64;
  config.stem = numbers_of(values, "stem_channels", 1, kLongestStem, "numbers of channels");
  const auto [height, width] = values.pair("image_size", config.patch, kMost);
  config.position_grid = config.native_grid = {height / config.patch, width / config.patch};
  config.interpolation =
      meaning_of(values, "position_interpolation", kInterpolations, "bicubic_antialias");
  for (const SwitchKey& part : kSwitchKeys) {
    config.*part.member = values.boolean(part.key, config.*part.member);
  }
  config.registers = values.integer("registers", 0, kMost, 0);
  config.position_prefix = values.integer("position_prefix", 0, kMost, config.prefix_tokens());
  config.activation = meaning_of(values, "hidden_act", kActivations, "gelu");
  config.norm_epsilon = values.number("layer_norm_eps", config.norm_epsilon);
  config.pooling = meaning_of(values, "pooling", kPoolings);
  config.neighbours = neighbours_of(values);
  config.classes = values.integer("num_labels", 0, kMost);
  const std::string problem = values.text("problem_type", "single_label_classification");
  config.multi_label = problem == "multi_label_classification";
  if (!config.multi_label && problem != "single_label_classification") {
    values.fail("problem_type", "single_label_classification or multi_label_classification");
  }
  return config;
}

}  // namespace

Description describe_vitascope(const Json& config, const std::string& path) {
  const JsonObject values(config, path);
  for (const std::string& key : values.keys()) {
    if (std::ranges::find(kKeys, key) == std::end(kKeys) &&
        std::ranges::find(kSwitchKeys, key, &SwitchKey::key) == std::end(kSwitchKeys)) {
      values.fail(key, "no such key: a newer version of this program may know it");
    }
  }
  Description description;
  description.config = network_of(values);
  try {
    model::validate(description.config);
  } catch (const std::invalid_argument& error) {
    throw InputError(path, error.what());
  }
  add_id2label(description, values);
  return description;
}

}  // namespace vitascope::weights
