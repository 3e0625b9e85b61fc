#pragma once

#include "tests/vit/caption/golden_mechanism.h"
#include "vit/caption/decoder.h"

/// \file
/// The captioner of tests/golden/mechanisms.
namespace vitascope::caption::tests {

/// Features [B, rows, columns, D].
inline Annotations annotations_of(const at::Tensor& features) {
  return {features.flatten(1, 2), features.size(1), features.size(2)};
}

/// The decoder with the golden weights as leaves.
struct GoldenCaptioner {
  explicit GoldenCaptioner(Attention attention = Attention::soft,
                           WordOutput output = WordOutput::deep)
      : decoder(config_of(attention, output)), lstm(decoder.config()) {
    GoldenMechanism("captioner_weights").fill(decoder.slots());
    const Slots shared = decoder.slots();
    const Slots own = slots();
    for (std::size_t i = 0; i < own.size(); ++i) *own[i].tensor = *shared[i].tensor;
  }

  static DecoderConfig config_of(Attention attention, WordOutput output) {
    const Json sizes = golden_sizes("captioner");
    return {.vocabulary = sizes.at("V"),
            .width = sizes.at("n"),
            .embedding = sizes.at("E"),
            .alignment = {.annotation_width = sizes.at("Df"), .width = sizes.at("A")},
            .attention = attention,
            .output = output};
  }

  /// Of `lstm`.
  Slots slots() {
    Slots all;
    lstm.list(all);
    return all;
  }

  Decoder decoder;
  LstmDecoder lstm;  ///< the same with the same parameters
};

}  // namespace vitascope::caption::tests
