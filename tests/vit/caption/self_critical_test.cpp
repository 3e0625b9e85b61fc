#include "vit/caption/self_critical.h"

#include <ATen/ATen.h>
#include <gmock/gmock.h>

#include <cmath>

#include "vit/caption/captioning.h"
#include "vit/caption/decoder_weights.h"
#include "vit/error.h"
#include "vit/train/trainer.h"

namespace vitascope::caption {
namespace {

constexpr std::int64_t kToyRows = 1, kToyColumns = 3, kToyWidth = 4, kToyWords = 7;

DecoderConfig config(Attention attention = Attention::soft) {
  return completed({.vocabulary = kToyWords,
                    .width = 8,
                    .embedding = 6,
                    .alignment = {.annotation_width = kToyWidth, .width = 5},
                    .attention = attention});
}

Decoder decoder() {
  RandomNumbers random(5);
  return initial_decoder(config(), random);
}

/// So many copies of one photo, number 0.
train::Batch copies(std::int64_t count) {
  train::Batch batch;
  at::manual_seed(2);
  batch.inputs =
      at::randn({1, kToyRows * kToyColumns, kToyWidth}).expand({count, -1, -1}).contiguous();
  batch.targets = at::zeros({count, 1}, at::kLong);
  return batch;
}

/// Anything that differs between sentences.
double worth(const std::vector<std::int64_t>& tokens) {
  double sum = 0;
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    sum += std::cos(1.7 * static_cast<double>(tokens[i]) + static_cast<double>(i));
  }
  return sum;
}

TEST(SelfCritical, LogProbabilitiesAreOfTheTokensThatCanBeDrawn) {
  at::manual_seed(3);
  const at::Tensor logits = at::randn({1, 2, kToyWords}, at::kDouble);
  const at::Tensor targets = at::tensor({std::int64_t{5}, kEnd}, at::kLong).view({1, 2});
  double expected = 0;
  for (int t = 0; t < 2; ++t) {
    double sum = 0;
    for (const std::int64_t token : {kEnd, std::int64_t{4}, std::int64_t{5}, std::int64_t{6}}) {
      sum += std::exp(logits[0][t][token].item<double>());
    }
    expected += logits[0][t][targets[0][t].item<std::int64_t>()].item<double>() - std::log(sum);
  }
  EXPECT_NEAR(log_prob_of_drawn(logits, targets).item<double>(), expected, 1e-12);
  // <pad> behind the end changes nothing.
  const at::Tensor longer = at::cat({logits, at::randn({1, 1, kToyWords}, at::kDouble)}, 1);
  const at::Tensor padded = at::cat({targets, at::zeros({1, 1}, at::kLong)}, 1);
  EXPECT_NEAR(log_prob_of_drawn(longer, padded).item<double>(), expected, 1e-12);
}

/// Sentences of at most two tokens are few enough to go through: <end>, or a word and anything.
std::vector<std::vector<std::int64_t>> all_sentences() {
  std::vector<std::vector<std::int64_t>> all{{kEnd}};
  for (std::int64_t word = 4; word < kToyWords; ++word) {
    all.push_back({word, kEnd});
    for (std::int64_t next = 4; next < kToyWords; ++next) all.push_back({word, next});
  }
  return all;
}

/// d sum_s p(s) r(s) / d b, the bias of the vocabulary, by going through all sentences.
at::Tensor exact_gradient(CaptionLearner& learner, const at::Tensor& bias) {
  const auto sentences = all_sentences();
  const auto count = std::ssize(sentences);
  at::Tensor told = at::full({count, 3}, kPad, at::kLong);
  at::Tensor worths = at::empty({count}, at::kFloat);
  for (std::int64_t i = 0; i < count; ++i) {
    const auto& tokens = sentences[static_cast<std::size_t>(i)];
    told[i][0] = kStart;
    for (std::size_t t = 0; t < tokens.size(); ++t) {
      told[i][static_cast<std::int64_t>(t) + 1] = tokens[t];
    }
    worths[i] = worth(tokens);
  }
  const Taught taught = learner.decoder().teach(
      told.narrow(1, 0, 2),
      {.values = copies(count).inputs, .rows = kToyRows, .columns = kToyColumns});
  const at::Tensor probabilities = log_prob_of_drawn(taught.logits, told.narrow(1, 1, 2)).exp();
  EXPECT_NEAR(probabilities.sum().item<double>(), 1, 1e-5);
  (probabilities * worths).sum().backward();
  const at::Tensor gradient = bias.grad().clone();
  bias.mutable_grad() = at::Tensor();
  return gradient;
}

TEST(SelfCritical, TheGradientIsThatOfTheExpectedWorth) {
  SelfCriticalLearner learner(decoder(), kToyRows, kToyColumns, {}, 2,
                              [](std::int64_t, const auto& tokens) { return worth(tokens); });
  at::Tensor bias;
  for (const train::Parameter& parameter : learner.parameters()) {
    if (parameter.name == "out.b") bias = parameter.tensor;
  }
  const at::Tensor exact = exact_gradient(learner, bias);
  constexpr std::int64_t kCopies = 64, kTimes = 60;
  RandomNumbers random(11);
  std::vector<at::Tensor> estimates;
  for (int i = 0; i < kTimes; ++i) {
    const train::Lesson lesson = learner.learn(copies(kCopies), {.size = kCopies}, random);
    (-lesson.losses.mean()).backward();
    estimates.push_back(bias.grad().clone());
    bias.mutable_grad() = at::Tensor();
  }
  const at::Tensor all = at::stack(estimates);
  const at::Tensor error = all.std(0) / std::sqrt(static_cast<double>(kTimes));
  const at::Tensor distance = (all.mean(0) - exact).abs();
  EXPECT_TRUE((distance <= 4 * error + 1e-7).all().item<bool>()) << distance << error;
  EXPECT_GT(exact.abs().max().item<double>(), 4 * error.max().item<double>());  // it could tell
}

TEST(SelfCritical, ItComesToSayWhatIsWorthMost) {
  const auto reward = [](std::int64_t, const std::vector<std::int64_t>& tokens) {
    return tokens == std::vector<std::int64_t>{6, 4, kEnd} ? 1.0 : tokens.front() == 6 ? 0.3 : 0.0;
  };
  SelfCriticalLearner learner(decoder(), kToyRows, kToyColumns, {}, 5, reward);
  train::TrainerOptions options;
  options.epochs = 120;
  options.schedule = {.steps = 120, .rate = 2e-2, .decay = train::Decay::constant};
  options.metric = "none";
  bool given = false;
  train::TrainerHooks hooks;
  hooks.next = [&]() -> std::optional<train::Batch> {
    given = !given;
    return given ? std::optional(copies(32)) : std::nullopt;
  };
  hooks.validate = [](const train::NamedTensors&) { return train::Metrics{{"none", 0}}; };
  train::Trainer(learner, options, hooks).run();
  const auto said =
      captions_of(learner.decoder_with({}),
                  {.values = copies(1).inputs, .rows = kToyRows, .columns = kToyColumns},
                  {.beam = 1, .rules = {.longest = 5}});
  EXPECT_EQ(said[0][0].sentence.tokens, (std::vector<std::int64_t>{6, 4, kEnd}));
}

TEST(SelfCritical, HardAttentionIsRefused) {
  RandomNumbers random(5);
  EXPECT_THROW(
      SelfCriticalLearner(initial_decoder(config(Attention::hard), random), kToyRows, kToyColumns,
                          {}, 5, [](std::int64_t, const auto&) { return 0.0; }),
      UsageError);
}

}  // namespace
}  // namespace vitascope::caption
