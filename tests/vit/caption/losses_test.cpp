#include "vit/caption/losses.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include "tests/vit/caption/golden_captioner.h"

namespace vitascope::caption {
namespace {

using tests::GoldenCaptioner;
using tests::GoldenMechanism;

TEST(CaptionLosses, MatchGolden) {
  const GoldenMechanism golden("captioner_loss");
  GoldenCaptioner captioner;
  const at::Tensor features = golden.leaf("features");
  const at::Tensor captions = golden.numbers("captions");
  const std::int64_t length = captions.size(1) - 1;
  const Taught taught =
      captioner.decoder.teach(captions.narrow(1, 0, length), tests::annotations_of(features));
  const at::Tensor targets = captions.narrow(1, 1, length);
  const CaptionLosses losses = caption_losses(taught, targets, golden.number("lambda"));
  const at::Tensor nll = -losses.log_likelihood;
  golden.expect("nll", nll.mean());
  golden.expect("nll_per_token", nll.sum() / losses.words);
  golden.expect("penalty", losses.penalty);
  golden.expect("loss", nll.mean() + losses.penalty);
  const at::Tensor live = targets != 0;
  golden.expect("alpha", taught.weights * live.unsqueeze(-1));
  const at::Tensor words =
      taught.logits.log_softmax(-1).gather(2, targets.unsqueeze(-1)).squeeze(-1);
  golden.expect("token_nll", -words * live);
  (nll.mean() + losses.penalty).backward();
  golden.expect_gradients(captioner.decoder.slots());
  golden.expect_gradient("features", features);
}

TEST(CaptionLosses, WithoutLambdaThereIsNoPenalty) {
  const Taught taught{at::zeros({1, 2, 5}), at::ones({1, 2, 3}), {}, {}};
  const at::Tensor targets = at::tensor({3, 0}, at::kLong).unsqueeze(0);
  const CaptionLosses losses = caption_losses(taught, targets, 0);
  EXPECT_EQ(losses.penalty.item<float>(), 0);
  EXPECT_EQ(losses.words, 1);
  EXPECT_NEAR(losses.log_likelihood.item<float>(), -std::log(5), 1e-6);
}

/// One step of the golden captioner with hard attention from a stored state.
class HardStep : public testing::Test {
 protected:
  HardStep() {
    state.hidden = golden["h0"];
    state.cell = golden["c0"];
  }

  struct Answer {
    LstmStep step;
    at::Tensor log_word;  ///< [B]
  };
  Answer at_places(const at::Tensor& places) const {
    const LstmDecoder& lstm = captioner.lstm;
    Answer answer{lstm.advance(lstm.embed(token), state, {.places = places}), {}};
    answer.log_word =
        lstm.logits(answer.step.features).log_softmax(-1).gather(1, target.unsqueeze(1)).squeeze(1);
    return answer;
  }

  const GoldenMechanism golden{"captioner_hard"};
  const Json options = tests::golden_sizes("captioner").at("hard");
  const HardOptions hard{options.at("lambda_r"), options.at("lambda_e")};
  const at::Tensor token = golden.numbers("token"), target = golden.numbers("target");
  GoldenCaptioner captioner{Attention::hard};
  DecoderState state = captioner.lstm.start(tests::annotations_of(golden["features"]));
};

TEST_F(HardStep, MonteCarloEstimateMatchesGolden) {
  const at::Tensor samples = golden.numbers("samples");
  Baseline baseline{options.at("baseline")};
  std::vector<double> followed{baseline.value};
  std::vector<at::Tensor> objectives, words, places, contexts;
  for (const at::Tensor& sample : samples.unbind()) {
    const Answer answer = at_places(sample);
    objectives.push_back(hard_objective(answer.log_word, answer.step.log_place, answer.step.entropy,
                                        options.at("baseline"), hard));
    words.push_back(answer.log_word);
    places.push_back(answer.step.log_place);
    contexts.push_back(answer.step.context);
    golden.expect("alpha", answer.step.weights);
    golden.expect("entropy", answer.step.entropy);
    baseline.follow(answer.log_word);
    followed.push_back(baseline.value);
  }
  golden.expect("log_p_word", at::stack(words));
  golden.expect("log_p_sample", at::stack(places));
  golden.expect("context", at::stack(contexts));
  golden.expect("baseline", at::tensor(followed, at::kDouble));
  (-at::stack(objectives).mean()).backward();
  for (const Slot& slot : captioner.slots()) {
    if (!slot.name.starts_with("init_")) golden.expect_gradient(slot.name, *slot.tensor);
  }
}

/// The estimator at every place, weighted by its probability.
TEST_F(HardStep, ItsExpectationMatchesGolden) {
  const std::int64_t count = golden["alpha"].size(1), batch = token.size(0);
  at::Tensor sum = at::zeros({}), expected = at::zeros({batch});
  for (std::int64_t place = 0; place < count; ++place) {
    const Answer answer = at_places(at::full({batch}, place, at::kLong));
    const at::Tensor share = answer.step.weights.detach().select(1, place);
    // Whatever the baseline is.
    const at::Tensor objective =
        hard_objective(answer.log_word, answer.step.log_place, answer.step.entropy, 0.3, hard);
    sum = sum + (share * objective).mean();
    expected = expected + share * answer.log_word.detach();
  }
  golden.expect("expected_log_p_word", expected);
  (-sum).backward();
  for (const Slot& slot : captioner.slots()) {
    if (slot.name.starts_with("init_")) continue;
    golden.expect_gradient(slot.name, *slot.tensor, "grad_exact.");
  }
}

/// 4 places, 20,000 samples drawn as in training: their mean is the exact gradient, within the
/// standard error that the four possible gradients and their probabilities tell.
TEST(HardAttention, MeanOfSamplesIsTheExactGradient) {
  constexpr std::int64_t kSamples = 20000;
  const at::Tensor scores = at::tensor({0.3, -0.8, 1.1, 0.0}, at::kDouble).requires_grad_();
  const at::Tensor values =
      at::tensor({0.5, -1.0, 2.0, -0.4}, at::kDouble).view({1, 4, 1}).requires_grad_();
  const auto log_word = [](const at::Tensor& context) {
    return (context * 1.7 - 0.2).sigmoid().log().squeeze(-1);
  };
  const auto weights = [&](std::int64_t rows) {
    return scores.softmax(0).view({1, 1, 4}).expand({1, rows, 4});
  };
  const auto gradients = [&](const at::Tensor& objective) {
    scores.mutable_grad() = values.mutable_grad() = at::Tensor();
    objective.backward();
    return at::cat({scores.grad(), values.grad().flatten()});
  };
  const at::Tensor p = scores.softmax(0);
  const at::Tensor exact = gradients((p * log_word(values[0])).sum() - 0.01 * (p * p.log()).sum());

  const auto estimate = [&](const Chosen& chosen) {
    return gradients(hard_objective(log_word(chosen.context), chosen.log_place, chosen.entropy,
                                    -0.5, {.reward = 1, .entropy = 0.01})
                         .mean());
  };
  at::Tensor variance = at::zeros({8}, at::kDouble);
  for (std::int64_t place = 0; place < 4; ++place) {
    const at::Tensor one =
        estimate(choose(weights(1), values, {.places = at::tensor({place}, at::kLong)}));
    variance += p[place].detach() * (one - exact).square();
  }
  RandomNumbers random(5);
  const at::Tensor mean = estimate(choose(weights(kSamples), values, {.random = &random}));
  const at::Tensor deviations = (mean - exact) / (variance / kSamples).sqrt();
  EXPECT_LE(deviations.square().mean().sqrt().item<double>(), 1.5) << deviations;
  EXPECT_LE(deviations.abs().max().item<double>(), 3) << deviations;
}

}  // namespace
}  // namespace vitascope::caption
