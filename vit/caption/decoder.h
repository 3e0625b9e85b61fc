#pragma once

#include <utility>
#include <variant>

#include "vit/caption/lstm_decoder.h"
#include "vit/caption/transformer_decoder.h"

/// \file
/// The decoder of a captioner: annotations in, words out.
namespace vitascope::caption {

/// The next word of each row.
struct NextWord {
  at::Tensor logits;   ///< [R, V]
  at::Tensor weights;  ///< [R, L] where the row looks for it
  at::Tensor place{};  ///< int64 [R], which of these hard attention took; undefined: it is soft
};

/// Either decoder behind one interface. A value: copies share their parameters, as tensors do.
class Decoder {
 public:
  Decoder() = default;
  /// Shapes only: parameters are undefined until they are assigned through parameters().
  /// \throws UsageError as completed(config) does
  explicit Decoder(const DecoderConfig& config);

  /// As completed.
  const DecoderConfig& config() const { return config_; }

  /// Name, place and shape of every parameter.
  Slots slots();
  /// Name and place of them.
  std::vector<std::pair<std::string, at::Tensor*>> parameters();

  /// Makes it quick for the answers of many rows at once, on the CPU: what every word is multiplied
  /// by takes the order in which the product reads it (\see kernels::pack). Plain, it is quicker
  /// for up to 8 rows (\see kernels::thin_linear). Packed, it can't learn or be saved any more;
  /// copies made before keep their parameters.
  void pack();

  /// A pass with known captions.
  /// \param tokens int64 [B, T], from <start> on; <pad> behind the end does no harm
  Taught teach(const at::Tensor& tokens, const Annotations& annotations,
               const TeachOptions& options = {}) const;

  /// One row a photo, before its first word.
  DecoderState start(const Annotations& annotations) const;

  /// The word after `tokens`, one token a row; the state goes on by it.
  /// \param random given: hard attention draws the place, else it takes the likeliest
  NextWord step(at::IntArrayRef tokens, DecoderState& state, RandomNumbers* random = nullptr) const;

 private:
  DecoderConfig config_;
  std::variant<LstmDecoder, TransformerDecoder> network_;
};

}  // namespace vitascope::caption
