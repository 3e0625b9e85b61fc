#include "vit/weights/key_names.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>
#include <span>

#include "vit/error.h"

namespace vitascope::weights {
namespace {

using model::Config;
using model::Pooling;

// The layouts of transformers: two versions of three kinds of block.
enum Layout : unsigned {
  vit4 = 1u << 0,
  vit5 = 1u << 1,
  dinov2_4 = 1u << 2,
  dinov2_5 = 1u << 3,
  swiglu4 = 1u << 4,
  swiglu5 = 1u << 5,
  any4 = vit4 | dinov2_4 | swiglu4,
  any5 = vit5 | dinov2_5 | swiglu5,
  vit = vit4 | vit5,
  dinov2 = dinov2_4 | dinov2_5 | swiglu4 | swiglu5,
  any = any4 | any5
};
constexpr std::array kLayouts{vit4, vit5, dinov2_4, dinov2_5, swiglu4, swiglu5};

/// A module of ours and its name on disk. A module that several stored ones make up has several
/// rules, in the order of its rows.
struct Rule {
  std::string_view ours, disk;
  unsigned layouts;
};

constexpr Rule kTransformersBlock[] = {
    {"norm1", "layernorm_before", vit},
    {"norm1", "norm1", dinov2},
    {"norm2", "layernorm_after", vit},
    {"norm2", "norm2", dinov2},
    {"attn.qkv", "attention.attention.query", any4},
    {"attn.qkv", "attention.attention.key", any4},
    {"attn.qkv", "attention.attention.value", any4},
    {"attn.qkv", "attention.q_proj", any5},
    {"attn.qkv", "attention.k_proj", any5},
    {"attn.qkv", "attention.v_proj", any5},
    {"attn.proj", "attention.output.dense", any4},
    {"attn.proj", "attention.o_proj", any5},
    {"ls1.gamma", "layer_scale1.lambda1", dinov2},
    {"ls2.gamma", "layer_scale2.lambda1", dinov2},
    {"mlp.fc1", "intermediate.dense", vit4},
    {"mlp.fc1", "mlp.fc1", vit5 | dinov2_4 | dinov2_5},
    {"mlp.fc1", "mlp.weights_in", swiglu4},
    {"mlp.fc1", "mlp.gate_proj", swiglu5},
    {"mlp.fc1", "mlp.up_proj", swiglu5},
    {"mlp.fc2", "output.dense", vit4},
    {"mlp.fc2", "mlp.fc2", vit5 | dinov2_4 | dinov2_5},
    {"mlp.fc2", "mlp.weights_out", swiglu4},
    {"mlp.fc2", "mlp.down_proj", swiglu5},
};

constexpr Rule kTransformersRoot[] = {
    {"cls_token", "embeddings.cls_token", any},
    {"dist_token", "embeddings.distillation_token", any},
    {"reg_token", "embeddings.register_tokens", any},
    {"pos_embed", "embeddings.position_embeddings", any},
    {"patch_embed.proj", "embeddings.patch_embeddings.projection", any},
    {"norm", "layernorm", any},
};

constexpr Rule kAugregBlock[] = {
    {"norm1", "LayerNorm_0", any},
    {"norm2", "LayerNorm_2", any},
    {"attn.qkv", "MultiHeadDotProductAttention_1/query", any},
    {"attn.qkv", "MultiHeadDotProductAttention_1/key", any},
    {"attn.qkv", "MultiHeadDotProductAttention_1/value", any},
    {"attn.proj", "MultiHeadDotProductAttention_1/out", any},
    {"mlp.fc1", "MlpBlock_3/Dense_0", any},
    {"mlp.fc2", "MlpBlock_3/Dense_1", any},
};

constexpr Rule kAugregRoot[] = {
    {"cls_token", "cls", any},
    {"pos_embed", "Transformer/posembed_input/pos_embedding", any},
    {"patch_embed.proj", "embedding", any},
    {"norm", "Transformer/encoder_norm", any},
    {"head", "head", any},
};

// Names that Facebook's own checkpoints of DINOv2 and DeiT III have where timm has others.
constexpr std::pair<std::string_view, std::string_view> kTimmAliases[] = {
    {"register_tokens", "reg_token"}, {".mlp.w12.", ".mlp.fc1."}, {".mlp.w3.", ".mlp.fc2."},
    {".gamma_1", ".ls1.gamma"},       {".gamma_2", ".ls2.gamma"},
};

constexpr std::string_view kTransformersPrefixes[] = {"vit.", "deit.", "dinov2.",
                                                      "dinov2_with_registers."};
constexpr std::string_view kAugregPrefixes[] = {"opt/target/", "params/"};

// Beginnings of names that have no part in classifying: mask tokens of pre-training, poolers that
// no head reads, decoders, JAX's representation layer and optimiser state.
constexpr std::string_view kUnused[] = {"embeddings.mask_token",
                                        "embeddings.position_ids",
                                        "pooler.",
                                        "decoder.",
                                        "mask_token",
                                        "decoder_",
                                        "pre_logits",
                                        "opt/"};

bool is_transformers(KeyStyle style) {
  return style == KeyStyle::transformers4 || style == KeyStyle::transformers5;
}

/// "blocks.3.attn.qkv.weight" -> block 3, module "attn.qkv", leaf "weight".
struct Parts {
  std::optional<std::string> block;
  std::string_view module, leaf;
};

Parts split(std::string_view parameter) {
  Parts parts;
  if (parameter.starts_with("blocks.")) {
    parameter.remove_prefix(7);
    const std::size_t dot = parameter.find('.');
    parts.block = parameter.substr(0, dot);
    parameter.remove_prefix(dot + 1);
  }
  parts.module = parameter;
  for (const std::string_view leaf : {".weight", ".bias"}) {
    if (!parameter.ends_with(leaf)) continue;
    parts.module = parameter.substr(0, parameter.size() - leaf.size());
    parts.leaf = leaf;
  }
  return parts;
}

std::vector<std::string> modules_on_disk(std::span<const Rule> rules, std::string_view module,
                                         unsigned layout) {
  std::vector<std::string> names;
  for (const Rule& rule : rules) {
    if (rule.ours == module && (rule.layouts & layout) != 0) names.emplace_back(rule.disk);
  }
  return names;
}

std::vector<std::string> transformers_stored(const std::string& parameter, const Config& config,
                                             Layout layout) {
  const Parts parts = split(parameter);
  std::vector<std::string> names;
  if (parts.block) {
    const std::string_view layers = layout == vit5 ? "layers" : "encoder.layer";
    for (const auto& module : modules_on_disk(kTransformersBlock, parts.module, layout)) {
      names.push_back(fmt::format("{}.{}.{}{}", layers, *parts.block, module, parts.leaf));
    }
  } else if (parts.module == "head" || parts.module == "head_dist") {
    const bool two = config.pooling == Pooling::first_two;
    const std::string_view head = !two                     ? "classifier"
                                  : parts.module == "head" ? "cls_classifier"
                                                           : "distillation_classifier";
    names.push_back(fmt::format("{}{}", head, parts.leaf));
  } else {
    for (const auto& module : modules_on_disk(kTransformersRoot, parts.module, layout)) {
      names.push_back(fmt::format("{}{}", module, parts.leaf));
    }
  }
  return names;
}

std::vector<std::string> augreg_stored(const std::string& parameter) {
  const Parts parts = split(parameter);
  const bool norm = parts.module.find("norm") != std::string_view::npos;
  const std::string_view leaf = parts.leaf == ".bias"     ? "/bias"
                                : parts.leaf != ".weight" ? ""
                                : norm                    ? "/scale"
                                                          : "/kernel";
  std::vector<std::string> names;
  if (parts.block) {
    for (const auto& module : modules_on_disk(kAugregBlock, parts.module, any)) {
      names.push_back(fmt::format("Transformer/encoderblock_{}/{}{}", *parts.block, module, leaf));
    }
  } else {
    for (const auto& module : modules_on_disk(kAugregRoot, parts.module, any)) {
      names.push_back(fmt::format("{}{}", module, leaf));
    }
  }
  return names;
}

Layout own_layout(const Config& config, KeyStyle style) {
  const bool five = style == KeyStyle::transformers5;
  if (config.swiglu) return five ? swiglu5 : swiglu4;
  if (config.family.starts_with("dinov2")) return five ? dinov2_5 : dinov2_4;
  return five ? vit5 : vit4;
}

}  // namespace

const char* key_style_name(KeyStyle style) {
  switch (style) {
    case KeyStyle::transformers4:
      return "transformers 4";
    case KeyStyle::transformers5:
      return "transformers 5";
    case KeyStyle::timm:
      return "timm";
    case KeyStyle::augreg:
      return "AugReg";
  }
  throw InternalError("key_style_name: not a style");
}

std::string canonical_name(const std::string& stored, KeyStyle style) {
  const auto without = [&](std::span<const std::string_view> prefixes) {
    for (const std::string_view prefix : prefixes) {
      if (stored.starts_with(prefix)) return stored.substr(prefix.size());
    }
    return stored;
  };
  if (is_transformers(style)) return without(kTransformersPrefixes);
  if (style == KeyStyle::augreg) return without(kAugregPrefixes);
  std::string name = stored;
  for (const auto& [theirs, timms] : kTimmAliases) {
    const std::size_t at = name.find(theirs);
    if (at != std::string::npos) name.replace(at, theirs.size(), timms);
  }
  return name;
}

bool is_known_unused(std::string_view canonical) {
  return std::ranges::any_of(
      kUnused, [&](std::string_view beginning) { return canonical.starts_with(beginning); });
}

std::vector<std::vector<std::string>> names_on_disk(const std::string& parameter,
                                                    const Config& config, KeyStyle style) {
  if (style == KeyStyle::timm) return {{parameter}};
  if (style == KeyStyle::augreg) return {augreg_stored(parameter)};
  std::vector<std::vector<std::string>> all{
      transformers_stored(parameter, config, own_layout(config, style))};
  for (const Layout layout : kLayouts) {
    all.push_back(transformers_stored(parameter, config, layout));
  }
  return all;
}

std::string with_prefix(const std::string& name, std::string_view prefix) {
  const bool head = name.find("classifier.") != std::string::npos;
  return head ? name : std::string(prefix) + name;
}

std::vector<std::string> transformers_names(const std::string& parameter, const Config& config) {
  std::vector<std::string> names =
      transformers_stored(parameter, config, own_layout(config, KeyStyle::transformers4));
  // A model without a head is saved as the bare encoder, whose names have no prefix.
  if (config.classes == 0) return names;
  for (std::string& name : names) name = with_prefix(name, config.family + ".");
  return names;
}

}  // namespace vitascope::weights
