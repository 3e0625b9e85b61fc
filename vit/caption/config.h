#pragma once

#include "vit/caption/alignment/config.h"
#include "vit/json.h"

/// \file
/// What a decoder of captions is.
namespace vitascope::caption {

/// What turns annotations into words.
enum class DecoderKind { lstm, transformer };

/// How a word sees the photo (Xu et al. 2015, arXiv:1502.03044, section 4).
enum class Attention {
  soft,  ///< the mean of what it looks at: deterministic
  hard   ///< one place, drawn: stochastic
};

/// What the layer over the vocabulary reads, and when the decoder looks.
enum class WordOutput {
  deep,       ///< E y + L_h h + L_z z; looks before the LSTM's step, which reads z (Xu et al.)
  deep_tanh,  ///< the hyperbolic tangent of that, as their program has it
  luong       ///< tanh(W_c [z; h]), fed to the next step; looks after it (Luong et al. 2015)
};

/// Sizes and kinds. `alignment.query_width` and, of a transformer, `alignment.width`, `.heads`,
/// `.score` and `.reach` follow from the rest: see completed().
struct DecoderConfig {
  DecoderKind kind = DecoderKind::lstm;
  std::int64_t vocabulary = 0;
  std::int64_t width = 512;      ///< of the LSTM's state, or of the transformer
  std::int64_t embedding = 512;  ///< of a word; a transformer's is its width
  /// Annotations get their coordinates, \see with_coordinates: alignment.annotation_width counts
  /// them.
  bool coordinates = false;
  AlignmentConfig alignment{};
  Attention attention = Attention::soft;
  bool gate = true;  ///< the scalar beta before the context
  WordOutput output = WordOutput::deep_tanh;
  std::int64_t layers = 4;  ///< of a transformer
  std::int64_t mlp_width = 2048;
  bool operator==(const DecoderConfig&) const = default;
};

/// The configuration with what follows from other numbers filled in.
/// \throws UsageError when the numbers don't fit together: says which, and what to choose
DecoderConfig completed(DecoderConfig config);

/// Keys: decoder, vocabulary_size, hidden_size, embedding_size, annotation_size, coordinates,
/// attention, score, window, half_width, attention_size, attention_heads, gate, output, layers,
/// mlp_size.
Json to_json(const DecoderConfig& config);

/// \param path the file, for messages
/// \throws InputError naming the key: missing, unknown, out of range, or not fitting the others
DecoderConfig decoder_from_json(const Json& json, const std::string& path);

/// "lstm", "transformer"; "soft", "hard"; "deep", "deep_tanh", "luong".
const char* decoder_name(DecoderKind kind);
const char* attention_name(Attention attention);
const char* output_name(WordOutput output);
/// Nothing when there is none of that name.
std::optional<DecoderKind> decoder_named(std::string_view name);
std::optional<Attention> attention_named(std::string_view name);
std::optional<WordOutput> output_named(std::string_view name);

}  // namespace vitascope::caption
