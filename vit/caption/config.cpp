#include "vit/caption/config.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "vit/caption/kind_names.h"
#include "vit/error.h"
#include "vit/json_object.h"

namespace vitascope::caption {
namespace {

constexpr std::array kDecoders{"lstm", "transformer"};
constexpr std::array kAttentions{"soft", "hard"};
constexpr std::array kOutputs{"deep", "deep_tanh", "luong"};
constexpr std::array<std::string_view, 16> kKeys{
    "decoder",         "vocabulary_size", "hidden_size",     "embedding_size",
    "annotation_size", "coordinates",     "score",           "window",
    "half_width",      "attention_size",  "attention_heads", "gate",
    "attention",       "output",          "layers",          "mlp_size"};

/// More than any captioner has; keeps a hostile file from asking for absurd memory.
constexpr int kWidest = 1 << 16;
constexpr int kLargestVocabulary = 1 << 22;

void require(bool holds, const std::string& message) {
  if (!holds) throw UsageError(message);
}

/// The kind that a key names.
template <typename Kind>
Kind kind_of(const JsonObject& values, std::string_view key,
             std::optional<Kind> (*named)(std::string_view), const std::string& names) {
  const std::optional<Kind> kind = named(values.text(key));
  if (!kind) values.fail(key, fmt::format("one of {}", names));
  return *kind;
}

void complete_transformer(DecoderConfig& config) {
  require(config.attention == Attention::soft,
          "hard attention draws one place for a word, but a transformer looks once in each head of "
          "each layer: choose soft attention, or the decoder lstm");
  require(config.layers >= 1,
          fmt::format("a transformer of {} layers: expected 1 or more", config.layers));
  require(config.mlp_width >= 1,
          fmt::format("an MLP of width {}: expected 1 or more", config.mlp_width));
  require(config.alignment.reach == Reach::global,
          "a transformer sees the whole photo: choose the window global, or the decoder lstm");
  require(config.width % 2 == 0,
          fmt::format("a transformer of width {}: its positions are pairs of sine and cosine, so "
                      "expected an even number",
                      config.width));
  config.embedding = config.alignment.width = config.width;
  config.alignment.score = Score::multi_head;
  config.gate = false;
}

}  // namespace

DecoderConfig completed(DecoderConfig config) {
  require(config.vocabulary >= 4,
          fmt::format("a vocabulary of {}: expected 4 or more, <pad>, <start>, <end> and <unk>",
                      config.vocabulary));
  require(config.width >= 1 && config.embedding >= 1,
          fmt::format("a decoder {} wide with words {} wide: expected 1 or more", config.width,
                      config.embedding));
  config.alignment.query_width = config.width;
  if (config.kind == DecoderKind::transformer) complete_transformer(config);
  require(config.attention == Attention::soft || config.alignment.score != Score::multi_head,
          "hard attention draws one place for a word, but the score multi_head has several rows of "
          "weights: choose another score, or soft attention");
  validate(config.alignment);
  return config;
}

Json to_json(const DecoderConfig& config) {
  return {{"decoder", decoder_name(config.kind)},
          {"vocabulary_size", config.vocabulary},
          {"hidden_size", config.width},
          {"embedding_size", config.embedding},
          {"annotation_size", config.alignment.annotation_width},
          {"coordinates", config.coordinates},
          {"attention", attention_name(config.attention)},
          {"score", score_name(config.alignment.score)},
          {"window", reach_name(config.alignment.reach)},
          {"half_width", config.alignment.half_width},
          {"attention_size", config.alignment.width},
          {"attention_heads", config.alignment.heads},
          {"gate", config.gate},
          {"output", output_name(config.output)},
          {"layers", config.layers},
          {"mlp_size", config.mlp_width}};
}

DecoderConfig decoder_from_json(const Json& json, const std::string& path) {
  const JsonObject values(json, path);
  for (const std::string& key : values.keys()) {
    if (std::ranges::find(kKeys, key) == kKeys.end()) {
      values.fail(key, "no such key: a newer version of this program may know it");
    }
  }
  DecoderConfig config;
  config.kind = kind_of<DecoderKind>(values, "decoder", decoder_named, "lstm, transformer");
  config.vocabulary = values.integer("vocabulary_size", 1, kLargestVocabulary);
  config.width = values.integer("hidden_size", 1, kWidest);
  config.embedding = values.integer("embedding_size", 1, kWidest);
  config.alignment.annotation_width = values.integer("annotation_size", 1, kWidest);
  config.coordinates = values.boolean("coordinates", config.coordinates);
  config.attention = kind_of<Attention>(values, "attention", attention_named, "soft, hard");
  config.alignment.score = kind_of<Score>(values, "score", score_named, score_names());
  config.alignment.reach = kind_of<Reach>(values, "window", reach_named, reach_names());
  config.alignment.half_width = values.number("half_width", config.alignment.half_width);
  config.alignment.width = values.integer("attention_size", 1, kWidest);
  config.alignment.heads = values.integer("attention_heads", 1, kWidest);
  config.gate = values.boolean("gate", config.gate);
  config.output = kind_of<WordOutput>(values, "output", output_named, "deep, deep_tanh, luong");
  constexpr int kDeepest = 256;
  config.layers = values.integer("layers", 1, kDeepest);
  config.mlp_width = values.integer("mlp_size", 1, kWidest);
  try {
    return completed(config);
  } catch (const UsageError& error) {
    throw InputError(path, error.what());
  }
}

const char* decoder_name(DecoderKind kind) { return name_of(kDecoders, kind); }
const char* attention_name(Attention attention) { return name_of(kAttentions, attention); }
const char* output_name(WordOutput output) { return name_of(kOutputs, output); }

std::optional<DecoderKind> decoder_named(std::string_view name) {
  return kind_named<DecoderKind>(kDecoders, name);
}
std::optional<Attention> attention_named(std::string_view name) {
  return kind_named<Attention>(kAttentions, name);
}
std::optional<WordOutput> output_named(std::string_view name) {
  return kind_named<WordOutput>(kOutputs, name);
}

}  // namespace vitascope::caption
