#include "vit/caption/decoder.h"

#include <ATen/ATen.h>
#include <ATen/core/grad_mode.h>
#include <c10/core/InferenceMode.h>
#include <gmock/gmock.h>

#include "tests/vit/caption/golden_captioner.h"
#include "vit/caption/decoder_weights.h"

namespace vitascope::caption {
namespace {

using tests::GoldenCaptioner;
using tests::GoldenMechanism;

TEST(LstmDecoder, AStepMatchesGolden) {
  const GoldenMechanism golden("captioner_step");
  const at::NoGradGuard guard;
  const Annotations annotations = tests::annotations_of(golden["features"]);
  const at::Tensor token = golden.numbers("token");
  GoldenCaptioner captioner;
  const DecoderState state = captioner.lstm.start(annotations);
  golden.expect("h0", state.hidden);
  golden.expect("c0", state.cell);
  const LstmStep step = captioner.lstm.advance(captioner.lstm.embed(token), state, {});
  golden.expect("alpha", step.weights);
  golden.expect("context", step.context);
  golden.expect("h", step.hidden);
  golden.expect("c", step.cell);
  golden.expect("logits", captioner.lstm.logits(step.features));

  const std::vector<std::int64_t> tokens(token.const_data_ptr<std::int64_t>(),
                                         token.const_data_ptr<std::int64_t>() + token.numel());
  DecoderState stepped = captioner.decoder.start(annotations);
  const NextWord next = captioner.decoder.step(tokens, stepped);
  golden.expect("logits", next.logits);
  golden.expect("log_probs", next.logits.log_softmax(-1));
  golden.expect("alpha", next.weights);
  golden.expect("h", stepped.hidden);
  const GoldenCaptioner with_tanh(Attention::soft, WordOutput::deep_tanh);
  DecoderState other = with_tanh.decoder.start(annotations);
  golden.expect("logits_tanh", with_tanh.decoder.step(tokens, other).logits);
}

TEST(TransformerDecoder, MatchesPyTorch) {
  const GoldenMechanism golden("transformer_decoder");
  const at::Tensor annotations = golden["annotations"];
  Decoder decoder({.kind = DecoderKind::transformer,
                   .vocabulary = 11,
                   .width = 12,
                   .alignment = {.annotation_width = 12, .heads = 3},
                   .layers = 2,
                   .mlp_width = 20});
  golden.fill(decoder.slots());
  const Annotations seen{annotations, 2, 3, golden.numbers("seen").to(at::kBool)};
  const Taught taught = decoder.teach(golden.numbers("tokens"), seen);
  golden.expect("logits", taught.logits);
  golden.expect("weights", taught.weights);
}

struct Kind {
  const char* name;
  DecoderConfig config;
};

constexpr std::int64_t kVocabulary = 13, kWidth = 8;

DecoderConfig small(DecoderKind kind, WordOutput output, Attention attention = Attention::soft,
                    Score score = Score::additive, Reach reach = Reach::global) {
  return {.kind = kind,
          .vocabulary = kVocabulary,
          .width = kWidth,
          .embedding = 6,
          .alignment =
              {.score = score, .reach = reach, .annotation_width = kWidth, .width = 4, .heads = 2},
          .attention = attention,
          .output = output,
          .layers = 2,
          .mlp_width = 12};
}

/// A small decoder of each kind with random weights.
class AnyDecoder : public testing::TestWithParam<Kind> {
 protected:
  AnyDecoder() {
    RandomNumbers random(3);
    decoder = initial_decoder(GetParam().config, random);
    // Larger than at the beginning, so that what goes wrong is seen.
    for (const Slot& slot : decoder.slots()) *slot.tensor = *slot.tensor * 1.5 + 0.05;
  }

  /// Logits and weights when the captions are said step by step, a row a photo.
  Taught said_in_steps(const at::Tensor& tokens, const Annotations& photos) const {
    const c10::InferenceMode guard;
    DecoderState state = decoder.start(photos);
    std::vector<at::Tensor> logits, weights;
    for (std::int64_t t = 0; t < tokens.size(1); ++t) {
      const at::Tensor column = tokens.select(1, t).contiguous();
      const NextWord next = decoder.step(
          {column.const_data_ptr<std::int64_t>(), static_cast<std::size_t>(column.numel())}, state);
      logits.push_back(next.logits);
      weights.push_back(next.weights);
    }
    return {at::stack(logits, 1), at::stack(weights, 1), {}, {}};
  }

  Decoder decoder;
  const Annotations annotations{tests::normal_tensor({3, 12, kWidth}, 7), 3, 4};
  const at::Tensor tokens =
      at::arange(3 * 20).view({3, 20}).mul(7).add(1).remainder(kVocabulary).to(at::kLong);
};

/// 20 words: longer than what a cache has room for at first.
TEST_P(AnyDecoder, StepByStepIsTeacherForced) {
  const Taught steps = said_in_steps(tokens, annotations);
  const Taught taught = decoder.teach(tokens, annotations);
  tests::expect_close(steps.logits, taught.logits, 2e-5);
  tests::expect_close(steps.weights, taught.weights, 1e-5);
}

TEST_P(AnyDecoder, StepByStepIsTeacherForcedWhereAnnotationsAreHidden) {
  Annotations masked = annotations;
  masked.mask = at::ones({3, 12}, at::kBool);
  masked.mask[1].narrow(0, 4, 8).fill_(false);
  const Taught steps = said_in_steps(tokens, masked);
  const Taught taught = decoder.teach(tokens, masked);
  tests::expect_close(steps.logits, taught.logits, 2e-5);
  EXPECT_EQ(taught.weights[1].narrow(1, 4, 8).abs().max().item<float>(), 0);
  EXPECT_GT(
      (decoder.teach(tokens, annotations).logits - taught.logits)[1].abs().max().item<float>(),
      1e-4);
}

/// Packed for answers: the same numbers, and copies made before still learn.
TEST_P(AnyDecoder, PackedItSaysTheSame) {
  const Taught taught = decoder.teach(tokens, annotations);
  const Decoder before = decoder;
  decoder.pack();
  decoder.pack();  // once more does no harm
  const Taught packed = said_in_steps(tokens, annotations);
  tests::expect_close(packed.logits, taught.logits, 2e-5);
  tests::expect_close(packed.weights, taught.weights, 1e-5);
  EXPECT_TRUE(at::equal(before.teach(tokens, annotations).logits, taught.logits));
}

/// Rows that fork, end and change places, of photos that have unequally many and of one that has
/// none left.
TEST_P(AnyDecoder, BeamsGoOnAsTheirOwnSentences) {
  const c10::InferenceMode guard;
  struct Row {
    std::int64_t photo;
    std::vector<std::int64_t> words;
  };
  std::vector<Row> rows{{0, {}}, {1, {}}, {2, {}}};
  const std::vector<std::vector<std::int64_t>> parents{
      {0, 1, 2}, {0, 0, 1, 2, 2, 2}, {1, 0, 5, 3, 4}, {2, 3, 0, 1}, {3, 2, 2, 0}};
  DecoderState state = decoder.start(annotations);
  std::int64_t word = 3;
  for (const auto& parent : parents) {
    std::vector<Row> next;
    std::vector<std::int64_t> said;
    for (const std::int64_t from : parent) {
      next.push_back(rows[static_cast<std::size_t>(from)]);
      word = (word * 5 + 1) % kVocabulary;
      next.back().words.push_back(word);
      said.push_back(word);
    }
    rows = next;
    reorder(state, parent);
    const NextWord got = decoder.step(said, state);
    for (std::size_t i = 0; i < rows.size(); ++i) {
      const Annotations own{annotations.values.narrow(0, rows[i].photo, 1), 3, 4};
      const auto length = static_cast<std::int64_t>(rows[i].words.size());
      const Taught taught = decoder.teach(at::tensor(rows[i].words, at::kLong).unsqueeze(0), own);
      const auto row = static_cast<std::int64_t>(i);
      tests::expect_close(got.logits[row], taught.logits[0][length - 1], 2e-5);
      tests::expect_close(got.weights[row], taught.weights[0][length - 1], 1e-5);
      if (GetParam().config.attention == Attention::hard) {
        EXPECT_EQ(got.place[row].item<int>(), got.weights[row].argmax().item<int>());
      } else {
        EXPECT_FALSE(got.place.defined());
      }
    }
  }
  EXPECT_EQ(state.rows.photos(), 2);
}

TEST_P(AnyDecoder, EveryParameterLearns) {
  for (const Slot& slot : decoder.slots()) slot.tensor->requires_grad_();
  const Taught taught = decoder.teach(tokens, annotations);
  (taught.logits.log_softmax(-1).square().mean() + taught.weights.square().sum()).backward();
  for (const Slot& slot : decoder.slots()) {
    if (slot.name.ends_with("b_K")) continue;  // softmax does not feel it
    ASSERT_TRUE(slot.tensor->grad().defined()) << slot.name;
    EXPECT_GT(slot.tensor->grad().abs().max().item<float>(), 0) << slot.name;
  }
}

TEST_P(AnyDecoder, ScheduledSamplingSaysOwnWords) {
  RandomNumbers random(1), again(1);
  const auto logits = [&](double own_words, RandomNumbers& numbers) {
    return decoder
        .teach(tokens, annotations,
               {.own_words = own_words, .half_expected = 0, .random = &numbers})
        .logits;
  };
  const at::Tensor all = logits(1, random);
  tests::expect_close(logits(1, again), all, 0);
  const at::Tensor none = decoder.teach(tokens, annotations).logits;
  if (GetParam().config.attention == Attention::soft) {
    tests::expect_close(logits(0, random), none, 0);
    tests::expect_close(all.select(1, 0), none.select(1, 0), 1e-6);  // <start> is told
  }
  EXPECT_GT((all - none).abs().max().item<float>(), 1e-3);
}

TEST_P(AnyDecoder, DropoutKeepsTheMean) {
  RandomNumbers random(2);
  const at::Tensor none = decoder.teach(tokens, annotations).logits;
  const at::Tensor some =
      decoder.teach(tokens, annotations, {.dropout = 0.5, .random = &random}).logits;
  EXPECT_GT((some - none).abs().max().item<float>(), 1e-3);
}

TEST_P(AnyDecoder, ItsWeightsComeBack) {
  const Decoder same = decoder_of(decoder_from_json(to_json(decoder.config()), "config.json"),
                                  tensors_of(decoder), "model.safetensors");
  tests::expect_close(same.teach(tokens, annotations).logits,
                      decoder.teach(tokens, annotations).logits, 0);
}

INSTANTIATE_TEST_SUITE_P(
    All, AnyDecoder,
    testing::Values(Kind{"deep", small(DecoderKind::lstm, WordOutput::deep)},
                    Kind{"deep_tanh", small(DecoderKind::lstm, WordOutput::deep_tanh,
                                            Attention::soft, Score::general, Reach::local_p_grid)},
                    Kind{"luong", small(DecoderKind::lstm, WordOutput::luong, Attention::soft,
                                        Score::dot, Reach::local_m)},
                    Kind{"multi_head", small(DecoderKind::lstm, WordOutput::deep, Attention::soft,
                                             Score::multi_head)},
                    Kind{"hard", small(DecoderKind::lstm, WordOutput::deep, Attention::hard)},
                    Kind{"transformer", small(DecoderKind::transformer, WordOutput::deep)}),
    [](const auto& info) { return info.param.name; });

TEST(Decoder, WhatDoesNotFitIsAMistakeOfOurs) {
  RandomNumbers random(3);
  const Decoder decoder = initial_decoder(small(DecoderKind::lstm, WordOutput::deep), random);
  const Annotations narrow{at::zeros({1, 12, 5}), 3, 4}, other_grid{at::zeros({1, 12, 8}), 3, 3};
  EXPECT_THROW(decoder.start(narrow), std::invalid_argument);
  EXPECT_THROW(decoder.start(other_grid), std::invalid_argument);
  DecoderState state = decoder.start({at::zeros({1, 12, kWidth}), 3, 4});
  EXPECT_THROW(decoder.step({1, 1}, state), std::invalid_argument);
  EXPECT_THROW(reorder(state, {1}), std::invalid_argument);
}

}  // namespace
}  // namespace vitascope::caption
