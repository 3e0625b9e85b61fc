#include "vit/train/parameter_groups.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <stdexcept>

#include "vit/error.h"

namespace vitascope::train {
namespace {

constexpr std::string_view kTokens[] = {"cls_token", "dist_token", "reg_token", "pos_embed"};

void validate(const RuleOptions& options) {
  if (!(options.layer_decay > 0 && options.layer_decay <= 1)) {
    throw UsageError(
        fmt::format("a layer decay of {}: expected above 0 and at most 1", options.layer_decay));
  }
  if (!(options.weight_decay >= 0 && std::isfinite(options.weight_decay))) {
    throw UsageError(fmt::format("a weight decay of {}: expected 0 or more", options.weight_decay));
  }
  if (!(options.head_scale > 0 && std::isfinite(options.head_scale))) {
    throw UsageError(
        fmt::format("a learning rate of the head that is {} of the others': expected above 0",
                    options.head_scale));
  }
}

}  // namespace

int layer_id(std::string_view name, int depth) {
  constexpr std::string_view kBlocks = "blocks.";
  if (name.starts_with(kBlocks)) {
    int block = -1;
    std::from_chars(name.data() + kBlocks.size(), name.data() + name.size(), block);
    if (block < 0 || block >= depth) {
      throw std::invalid_argument(
          fmt::format("the parameter {} of a model with {} blocks", name, depth));
    }
    return block + 1;
  }
  const bool first = std::ranges::find(kTokens, name) != std::end(kTokens) ||
                     name.starts_with("patch_embed.") || name.starts_with("norm_pre.");
  return first ? 0 : depth + 1;
}

bool exempt_from_decay(const model::ParameterShape& parameter) {
  return parameter.shape.size() <= 1 ||
         std::ranges::find(kTokens, parameter.name) != std::end(kTokens);
}

std::vector<ParameterRule> parameter_rules(std::span<const model::ParameterShape> parameters,
                                           int depth, const RuleOptions& options) {
  validate(options);
  std::vector<ParameterRule> rules;
  rules.reserve(parameters.size());
  for (const model::ParameterShape& parameter : parameters) {
    const std::string_view name = parameter.name;
    const bool head = name.starts_with("head.") || name.starts_with("head_dist.");
    const double scale = std::pow(options.layer_decay, depth + 1 - layer_id(name, depth));
    rules.push_back({.rate_scale = head ? scale * options.head_scale : scale,
                     .weight_decay = exempt_from_decay(parameter) ? 0 : options.weight_decay});
  }
  return rules;
}

}  // namespace vitascope::train
