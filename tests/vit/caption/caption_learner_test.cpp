#include "vit/caption/caption_learner.h"

#include <ATen/ATen.h>
#include <gmock/gmock.h>

#include <cmath>

#include "vit/caption/captioning.h"
#include "vit/caption/decoder_weights.h"
#include "vit/error.h"
#include "vit/train/trainer.h"

namespace vitascope::caption {
namespace {

constexpr std::int64_t kRows = 2, kColumns = 3, kWidth = 5, kWords = 9;

/// Two photos, each with one sentence of its own; words are numbers from 4 on.
train::Batch two_captions() {
  train::Batch batch;
  at::manual_seed(1);
  batch.inputs = at::randn({2, kRows * kColumns, kWidth});
  batch.targets = at::tensor({1, 4, 5, 6, 2, 1, 7, 8, 2, 0}, at::kLong).view({2, 5});
  batch.names = {"a.jpg", "b.jpg"};
  return batch;
}

DecoderConfig config(Attention attention, DecoderKind kind = DecoderKind::lstm) {
  return completed({.kind = kind,
                    .vocabulary = kWords,
                    .width = 16,
                    .embedding = 8,
                    .alignment = {.annotation_width = kWidth, .width = 8, .heads = 2},
                    .attention = attention,
                    .layers = 1,
                    .mlp_width = 16});
}

CaptionLearner learner_of(const DecoderConfig& config, const CaptionLearning& options = {}) {
  RandomNumbers random(3);
  return {initial_decoder(config, random), kRows, kColumns, options};
}

/// Learns the two captions for so many steps.
void learn(CaptionLearner& learner, std::int64_t steps) {
  train::TrainerOptions options;
  options.epochs = steps;
  options.schedule = {.steps = steps, .rate = 2e-2, .decay = train::Decay::constant};
  options.metric = "none";
  bool given = false;
  train::TrainerHooks hooks;
  hooks.next = [&]() -> std::optional<train::Batch> {
    given = !given;
    return given ? std::optional(two_captions()) : std::nullopt;
  };
  hooks.validate = [](const train::NamedTensors&) { return train::Metrics{{"none", 0}}; };
  train::Trainer(learner, options, hooks).run();
}

/// Of two words of one caption, and a third that does not count: ln 2 of an even pair, 0 of one
/// place, whose gradient is a number.
TEST(FocusPenalty, IsTheEntropyOfTheWordsThatCount) {
  const at::Tensor weights = at::tensor({.5, .5, 0., 0., 1., 0., .3, .3, .4}, at::kDouble)
                                 .view({1, 3, 3})
                                 .requires_grad_();
  const at::Tensor live = at::tensor({1, 1, 0}, at::kLong).to(at::kBool).view({1, 3});
  const at::Tensor penalty = focus_penalty(weights, live, 2);
  EXPECT_NEAR(penalty.item<double>(), 2 * std::log(2), 1e-12);
  penalty.backward();
  EXPECT_TRUE(weights.grad().isfinite().all().item<bool>());
  EXPECT_EQ(weights.grad()[0][2].abs().max().item<double>(), 0);
}

TEST(FocusPenalty, AttentionBecomesSharper) {
  const auto spread = [](double focus) {
    CaptionLearner learner =
        learner_of(config(Attention::soft), {.penalty = 0, .focus = focus, .dropout = 0});
    learn(learner, 100);
    const train::Batch batch = two_captions();
    const at::Tensor weights =
        learner.decoder_with({})
            .teach(batch.targets.narrow(1, 0, 4),
                   {.values = batch.inputs, .rows = kRows, .columns = kColumns})
            .weights;
    return weights.amax(-1).mean().item<double>();
  };
  EXPECT_GT(spread(1), spread(0) + 0.1);
}

class LearnsByHeart : public testing::TestWithParam<DecoderConfig> {};

TEST_P(LearnsByHeart, AndThenSaysIt) {
  CaptionLearner learner = learner_of(GetParam(), {.penalty = 0.1, .dropout = 0});
  learn(learner, 200);
  const train::Batch batch = two_captions();
  const Annotations photos{.values = batch.inputs, .rows = kRows, .columns = kColumns};
  const Decoder decoder = learner.decoder_with({});
  BeamOptions beam;
  beam.beam = 2;
  const auto said = captions_of(decoder, photos, beam);
  ASSERT_EQ(said.size(), 2u);
  EXPECT_EQ(said[0][0].sentence.tokens, (std::vector<std::int64_t>{4, 5, 6, 2}));
  EXPECT_EQ(said[1][0].sentence.tokens, (std::vector<std::int64_t>{7, 8, 2}));
  // Where it looked is what the decoder says when it is told these words.
  const Taught taught = decoder.teach(batch.targets.narrow(1, 0, 4), photos);
  for (int photo = 0; photo < 2; ++photo) {
    const at::Tensor weights = said[photo][0].weights;
    EXPECT_TRUE(
        at::allclose(weights, taught.weights[photo].narrow(0, 0, weights.size(0)), 1e-4, 1e-5));
    EXPECT_TRUE(at::allclose(weights.sum(1), at::ones({weights.size(0)}), 1e-4, 1e-5));
    const at::Tensor places = said[photo][0].places;
    EXPECT_EQ(places.defined(), GetParam().attention == Attention::hard);
    if (places.defined()) {
      EXPECT_TRUE(places.equal(weights.argmax(1)));
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Decoders, LearnsByHeart,
                         testing::Values(config(Attention::soft), config(Attention::hard),
                                         config(Attention::soft, DecoderKind::transformer)));

TEST(CaptionLearner, TheLossOfACaptionIsThatOfItsWordsAndThePenalty) {
  CaptionLearner learner = learner_of(config(Attention::soft), {.penalty = 0.5, .dropout = 0});
  const train::Batch batch = two_captions();
  RandomNumbers random(1);
  const train::Lesson lesson = learner.learn(batch, {.size = 2, .total = 2}, random);
  const Taught taught =
      learner.decoder().teach(batch.targets.narrow(1, 0, 4), {batch.inputs, kRows, kColumns});
  const at::Tensor log_words = taught.logits.log_softmax(-1);
  double first = 0;
  for (int t = 0; t < 4; ++t) {
    first -= log_words[0][t][batch.targets[0][t + 1].item<std::int64_t>()].item<double>();
  }
  // lambda mean_b sum_i (1 - sum_t alpha_ti)^2, words of the second caption: three.
  const at::Tensor looked =
      at::stack({taught.weights[0].sum(0), taught.weights[1].narrow(0, 0, 3).sum(0)});
  const double penalty = 0.5 * (1 - looked).square().sum(1).mean().item<double>();
  EXPECT_NEAR(lesson.losses[0].item<double>(), first + penalty, 1e-4);
  EXPECT_EQ(lesson.answers, 7);
}

/// What hard attention compares with goes on where it was.
TEST(CaptionLearner, TheBaselineIsPartOfTheState) {
  CaptionLearner first = learner_of(config(Attention::hard));
  RandomNumbers random(1);
  first.learn(two_captions(), {.size = 2, .total = 2}, random);
  EXPECT_NE(first.state(), learner_of(config(Attention::hard)).state());
  CaptionLearner second = learner_of(config(Attention::hard));
  second.restore(first.state());
  EXPECT_EQ(second.state(), first.state());
  EXPECT_THROW(second.restore("x"), std::invalid_argument);
}

TEST(CaptionLearner, OptionsOutOfRangeAreNamed) {
  EXPECT_THROW(learner_of(config(Attention::soft), {.dropout = 1}), UsageError);
  EXPECT_THROW(learner_of(config(Attention::soft), {.own_words = 1.5}), UsageError);
  EXPECT_THROW(learner_of(config(Attention::soft), {.penalty = -1}), UsageError);
}

}  // namespace
}  // namespace vitascope::caption
