#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "vit/model/config.h"

/// \file
/// The names that weights have on disk, and ours (timm's). Nothing else in the project knows any
/// other name than ours.
namespace vitascope::weights {

enum class KeyStyle {
  transformers4,  ///< vit.encoder.layer.0.attention.attention.query.weight
  transformers5,  ///< vit.layers.0.attention.q_proj.weight
  timm,           ///< blocks.0.attn.qkv.weight
  augreg          ///< Transformer/encoderblock_0/MultiHeadDotProductAttention_1/query/kernel
};

/// "transformers 4", ... for `info`.
const char* key_style_name(KeyStyle style);

/// A stored name without the prefix that a style may carry (`vit.`, `dinov2.`, `opt/target/`, ...);
/// in timm's style, Facebook's own names (`register_tokens`, `mlp.w12`, `gamma_1`) become timm's.
std::string canonical_name(const std::string& stored, KeyStyle style);

/// Whether tensors of that name have no part in classifying: mask tokens of pre-training, poolers
/// that no head reads, decoders, JAX's representation layer and optimiser state.
bool is_known_unused(std::string_view canonical);

/// The ways in which `parameter` may be named on disk, without prefix, the likeliest first; each is
/// one name, or the names of the tensors that lie below each other in it (q, k, v; gate, up).
std::vector<std::vector<std::string>> names_on_disk(const std::string& parameter,
                                                    const model::Config& config, KeyStyle style);

/// The name as it stands in a file whose encoder has that prefix; heads never carry it.
std::string with_prefix(const std::string& name, std::string_view prefix);

/// The names that `parameter` has on disk in transformers' layout: several for qkv, whose rows are
/// then split evenly.
std::vector<std::string> transformers_names(const std::string& parameter,
                                            const model::Config& config);

}  // namespace vitascope::weights
