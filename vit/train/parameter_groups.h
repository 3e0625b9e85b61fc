#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "vit/model/config.h"

/// \file
/// What each parameter gets of the learning rate and of weight decay.
namespace vitascope::train {

/// The rule of one parameter.
struct ParameterRule {
  double rate_scale = 1;    ///< times the schedule's learning rate
  double weight_decay = 0;  ///< times the learning rate and the weight, taken off at each step
};

/// What the rules are made of.
struct RuleOptions {
  double weight_decay = 0.05;
  double layer_decay = 1;  ///< above 0, at most 1; 1: all layers learn alike
  double head_scale = 1;   ///< the head's rate beside that of the last block
};

/// Where a parameter stands on the way from pixels to classes: 0 for embeddings, tokens and what
/// comes before the first block, i + 1 for block i, depth + 1 for all after the last block, the
/// final norm included (BEiT, arXiv:2106.08254; timm puts that norm with the last block). \param
/// name timm's, or one that continues it: `blocks.3.attn.qkv.lora_a` belongs to block 3 \throws
/// std::invalid_argument when it names a block that the model does not have
int layer_id(std::string_view name, int depth);

/// Whether weight decay leaves a parameter alone: biases, norms and LayerScale (all that have one
/// dimension), tokens and position embeddings.
bool exempt_from_decay(const model::ParameterShape& parameter);

/// The rule of each parameter: rate_scale = layer_decay^(depth + 1 - layer_id), times head_scale
/// for `head` and `head_dist`. \throws UsageError when an option is out of range
std::vector<ParameterRule> parameter_rules(std::span<const model::ParameterShape> parameters,
                                           int depth, const RuleOptions& options);

}  // namespace vitascope::train
