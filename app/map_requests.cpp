#include "app/map_requests.h"

#include <fmt/format.h>

#include <algorithm>

#include "app/values.h"
#include "vit/error.h"

namespace vitascope::app {
namespace {

/// --layer as a number from 0.
int layer_number(int layer, const model::Config& config) {
  const int number = layer < 0 ? layer + config.depth : layer;
  if (number >= 0 && number < config.depth) return number;
  throw UsageError(fmt::format("--layer {}: the model has {} layers, 0 to {}, or -1 for the last",
                               layer, config.depth, config.depth - 1));
}

/// --head: one head, or how they are fused.
void set_heads(const std::string& head, const model::Config& config, explain::Query& query) {
  if (head == "mean") return;
  if (head == "max" || head == "min") {
    query.fusion = head == "max" ? explain::HeadFusion::max : explain::HeadFusion::min;
    return;
  }
  const auto number = parse_whole<int>(head);
  if (!number || *number < 0 || *number >= config.heads) {
    throw UsageError(fmt::format("--head {}: the model has {} heads, 0 to {}; or mean, max, min",
                                 in_quotes(head), config.heads, config.heads - 1));
  }
  query.head = number;
}

std::string heads_text(const explain::Query& query, const model::Config& config) {
  if (query.head) return fmt::format("head {}", *query.head);
  const char* names[] = {"mean", "maximum", "minimum"};
  return fmt::format("{} of {} heads", names[static_cast<int>(query.fusion)], config.heads);
}

explain::DiscardRule discard_rule(const std::string& name) {
  if (name == "class-column") return explain::DiscardRule::keep_class_column;
  return name == "none" ? explain::DiscardRule::keep_nothing : explain::DiscardRule::keep_first;
}

explain::MapOptions map_options(const MapChoice& choice, const model::Config& config) {
  explain::MapOptions options;
  options.query.layer = layer_number(choice.layer.value_or(-1), config);
  set_heads(choice.head, config, options.query);
  options.rollout.fusion = options.query.fusion;
  options.rollout.discard = choice.discard;
  options.rollout.rule = discard_rule(choice.discard_rule);
  options.occlusion = choice.occlusion;
  options.rise_masks = choice.rise_masks;
  options.seed = choice.seed;
  return options;
}

std::string description(const explain::Method& method, const explain::MapOptions& options,
                        const model::Config& config) {
  if (method.name != "raw") return fmt::format("{}: {}", method.name, method.summary);
  return fmt::format("attention of layer {} of 0 to {}, {}", *options.query.layer, config.depth - 1,
                     heads_text(options.query, config));
}

MapRequest request(const explain::Method& method, const explain::MapOptions& options,
                   const model::Config& config, std::string label) {
  return {&method, options, std::move(label), description(method, options, config)};
}

std::vector<MapRequest> every_head(explain::MapOptions options, const model::Config& config) {
  const explain::Method& raw = explain::find_method("raw");
  std::vector<MapRequest> requests;
  for (int head = 0; head < config.heads; ++head) {
    options.query.head = head;
    requests.push_back(request(raw, options, config, fmt::format("head {}", head)));
  }
  return requests;
}

std::vector<MapRequest> every_layer(explain::MapOptions options, const model::Config& config) {
  const explain::Method& raw = explain::find_method("raw");
  std::vector<MapRequest> requests;
  for (int layer = 0; layer < config.depth; ++layer) {
    options.query.layer = layer;
    requests.push_back(request(raw, options, config, fmt::format("layer {}", layer)));
  }
  return requests;
}

/// Those of one pass; the others take minutes and are made when they are named.
std::vector<MapRequest> every_method(const explain::MapOptions& options,
                                     const model::Config& config) {
  std::vector<MapRequest> requests;
  for (const explain::Method& method : explain::methods()) {
    if (method.probe == nullptr && explain::refusal(method, config, options).empty()) {
      requests.push_back(request(method, options, config, std::string(method.name)));
    }
  }
  return requests;
}

}  // namespace

bool needs_gradients(const MapChoice& choice) {
  return choice.grid == "methods" ||
         std::ranges::any_of(choice.methods, [](const std::string& name) {
           return explain::find_method(name).wanted.gradients();
         });
}

std::vector<MapRequest> map_requests(const MapChoice& choice, const model::Config& config) {
  const explain::MapOptions options = map_options(choice, config);
  if (choice.grid == "methods") return every_method(options, config);
  const bool raw_alone = choice.methods == std::vector<std::string>{"raw"};
  if (!choice.grid.empty() && !raw_alone) {
    throw UsageError("--grid " + choice.grid + " shows raw attention; leave --method out");
  }
  if (choice.grid == "heads") return every_head(options, config);
  if (choice.grid == "layers") return every_layer(options, config);
  std::vector<MapRequest> requests;
  for (const std::string& name : choice.methods) {
    const explain::Method& method = explain::find_method(name);
    const std::string refused = explain::refusal(method, config, options);
    if (!refused.empty()) throw UsageError("--method " + refused);
    requests.push_back(request(method, options, config, name));
  }
  return requests;
}

}  // namespace vitascope::app
