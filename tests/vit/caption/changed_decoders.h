#pragma once

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/vit/caption/formula_decoder.h"
#include "tests/vit/caption/golden_mechanism.h"

/// \file
/// Small decoders with random weights whose attention is changed.
namespace vitascope::caption::tests {

/// A decoder and its name.
struct ChangedKind {
  const char* name;
  DecoderConfig config;
};

/// One of each way to read a photo.
inline std::vector<ChangedKind> changed_decoders() {
  const auto of = [](DecoderKind kind, Score score, Attention attention) {
    return DecoderConfig{
        .kind = kind,
        .vocabulary = 13,
        .width = 8,
        .embedding = 6,
        .alignment = {.score = score, .annotation_width = 8, .width = 4, .heads = 2},
        .attention = attention,
        .output = WordOutput::deep,
        .layers = 2,
        .mlp_width = 12};
  };
  return {{"additive", of(DecoderKind::lstm, Score::additive, Attention::soft)},
          {"multi_head", of(DecoderKind::lstm, Score::multi_head, Attention::soft)},
          {"hard", of(DecoderKind::lstm, Score::additive, Attention::hard)},
          {"transformer", of(DecoderKind::transformer, Score::multi_head, Attention::soft)}};
}

/// Four photos on a grid of 3 x 4.
class ChangedDecoders : public testing::TestWithParam<ChangedKind> {
 protected:
  ChangedDecoders() {
    RandomNumbers random(3);
    decoder = initial_decoder(GetParam().config, random);
    // Larger than at the beginning, so that attention differs between places.
    for (const Slot& slot : decoder.slots()) *slot.tensor = *slot.tensor * 2 + 0.05;
  }

  Decoder decoder;
  const Annotations annotations{normal_tensor({4, 12, 8}, 7), 3, 4};
  const std::vector<std::int64_t> tokens{1, 5, 9, 4, 12, 7};
};

}  // namespace vitascope::caption::tests
