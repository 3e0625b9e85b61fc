#include "vit/train/linear_head.h"

#include <ATen/ATen.h>
#include <gmock/gmock.h>

#include <functional>
#include <stdexcept>

#include "tests/vit/train/golden_training.h"
#include "tests/vit/train/random_tensors.h"
#include "vit/error.h"

namespace vitascope::train {
namespace {

using testing::Each;
using testing::Field;
using testing::Le;
using tests::normal_tensor;

constexpr std::int64_t kClasses = 4;

at::Tensor hot_rows(const at::Tensor& labels, std::int64_t classes = kClasses) {
  return at::one_hot(labels, classes).to(at::kFloat);
}

/// Clouds around a centre for each class, in turn.
LinearSamples clouds(std::int64_t count, double spread, std::uint64_t seed) {
  const at::Tensor labels = at::arange(count, at::kLong).remainder(kClasses);
  const at::Tensor centres = normal_tensor({kClasses, 12}, 1) * 3;
  return {centres.index_select(0, labels) + normal_tensor({count, 12}, seed) * spread,
          hot_rows(labels)};
}

double accuracy(const LinearHead& head, const LinearSamples& samples) {
  return validation_score(head.logits(samples.features), samples.targets, false);
}

/// With the options as they are.
TrainedHead trained_on(const LinearSamples& training, const LinearSamples& validation) {
  const LinearHeadOptions options;
  return train_linear_head(training, validation, options);
}

const HeadCandidate& figures(const TrainedHead& trained) {
  return trained.candidates.at(trained.chosen);
}

TEST(LinearHead, TellsApartWhatCanBe) {
  const LinearSamples training = clouds(200, 0.3, 2);
  const LinearSamples validation = clouds(80, 0.3, 3);
  const TrainedHead trained = trained_on(training, validation);
  EXPECT_EQ(accuracy(trained.head, training), 1);
  EXPECT_EQ(accuracy(trained.head, validation), 1);
  EXPECT_EQ(figures(trained).score, 1);
  EXPECT_LT(figures(trained).loss, 0.02);
}

TEST(LinearHead, FiguresAreThoseOfTheHeadThatIsReturned) {
  const LinearSamples validation = clouds(101, 3, 5);
  const TrainedHead trained = trained_on(clouds(200, 3, 4), validation);
  const at::Tensor logits = trained.head.logits(validation.features);
  EXPECT_EQ(figures(trained).score, accuracy(trained.head, validation));
  EXPECT_NEAR(figures(trained).loss,
              sample_losses(logits, validation.targets, {}).mean().item<double>(), 1e-5);
  EXPECT_THAT(trained.candidates, Each(Field(&HeadCandidate::score, Le(figures(trained).score))));
  for (const HeadCandidate& other : trained.candidates) {
    EXPECT_TRUE(other.score < figures(trained).score || other.loss >= figures(trained).loss);
  }
  const LinearHeadOptions options;
  EXPECT_EQ(trained.candidates.size(), 1 + options.rates.size() * options.weight_decays.size());
}

TEST(LinearHead, GoesBeyondTheClosedForm) {
  // Three classes in a row: least squares never names the one in the middle (Hastie et al., The
  // Elements of Statistical Learning, 4.2); cross entropy does.
  const at::Tensor labels = at::arange(300, at::kLong).remainder(3);
  const at::Tensor features =
      (labels.to(at::kFloat) * 4).unsqueeze(1) + normal_tensor({300, 1}, 7) * 0.5;
  const LinearSamples samples{features, hot_rows(labels, 3)};
  const TrainedHead trained = trained_on(samples, samples);
  EXPECT_LT(trained.candidates[0].score, 0.75);
  EXPECT_GT(figures(trained).score, 0.99);
}

TEST(LinearHead, OrderOfSamplesDoesNotMatter) {
  const LinearSamples training = clouds(120, 2, 11);
  const LinearSamples validation = clouds(60, 2, 12);
  RandomNumbers random(3);
  const at::Tensor order = at::tensor(random.permutation(120), at::kLong);
  const TrainedHead one = trained_on(training, validation);
  const TrainedHead other = trained_on(
      {training.features.index_select(0, order), training.targets.index_select(0, order)},
      validation);
  EXPECT_EQ(one.chosen, other.chosen);
  EXPECT_LE(tests::relative_error(other.head.weight, one.head.weight), 1e-3);
}

TEST(LinearHead, ScaleOfFeaturesDoesNotMatter) {
  const LinearSamples training = clouds(120, 2, 11);
  const LinearSamples validation = clouds(60, 2, 12);
  const TrainedHead plain = trained_on(training, validation);
  // Each feature in units of its own and far from 0; one more that never changes.
  const at::Tensor units = at::logspace(-3, 3, 12, 10, at::kFloat);
  const auto changed = [&](const at::Tensor& features) {
    return at::cat({features * units + units * 50, at::full({features.size(0), 1}, 0.1)}, 1);
  };
  const TrainedHead scaled = trained_on({changed(training.features), training.targets},
                                        {changed(validation.features), validation.targets});
  EXPECT_EQ(plain.chosen, scaled.chosen);
  EXPECT_LE(tests::relative_error(scaled.head.logits(changed(validation.features)),
                                  plain.head.logits(validation.features)),
            1e-2);
}

TEST(LinearHead, ClassWithoutSamplesIsNotNamed) {
  LinearSamples training = clouds(120, 1, 21);
  LinearSamples validation = clouds(60, 1, 22);
  training.targets = at::cat({training.targets, at::zeros({120, 1})}, 1);
  validation.targets = at::cat({validation.targets, at::zeros({60, 1})}, 1);
  for (const bool weighted : {false, true}) {
    LinearHeadOptions options;
    if (weighted) options.loss.class_weights = at::tensor({1.0f, 1.0f, 1.0f, 1.0f, 0.0f});
    const TrainedHead trained = train_linear_head(training, validation, options);
    EXPECT_TRUE(trained.head.weight.isfinite().all().item<bool>());
    EXPECT_EQ((trained.head.logits(validation.features).argmax(1) == 4).sum().item<int>(), 0);
    EXPECT_EQ(figures(trained).score, 1);
  }
}

TEST(LinearHead, SamplesOfNoWeightTeachNothing) {
  LinearSamples training = clouds(160, 0.5, 31);
  const LinearSamples validation = clouds(80, 0.5, 32);
  // A half of the labels is wrong, and says so.
  training.targets.slice(0, 80).copy_(training.targets.slice(0, 80).roll(1, 1));
  training.weights = at::ones({160});
  EXPECT_LT(figures(trained_on(training, validation)).score, 1);
  training.weights.slice(0, 0, 80).zero_();
  training.targets.slice(0, 0, 80).copy_(clouds(80, 0.5, 1).targets.roll(1, 1));
  training.targets.slice(0, 80).copy_(clouds(80, 0.5, 1).targets);
  EXPECT_EQ(figures(trained_on(training, validation)).score, 1);
}

TEST(LinearHead, RareClassesCountByTheirWeights) {
  // Two clouds that overlap; one has a tenth of the samples.
  const at::Tensor labels = (at::arange(330, at::kLong).remainder(11) == 0).to(at::kLong);
  const at::Tensor features =
      labels.to(at::kFloat).unsqueeze(1) * 1.5 + normal_tensor({330, 2}, 41);
  const LinearSamples samples{features, hot_rows(labels, 2)};
  const auto named = [&](const LossOptions& loss) {
    LinearHeadOptions options;
    options.loss = loss;
    const TrainedHead trained = train_linear_head(samples, samples, options);
    return trained.head.logits(features).argmax(1).sum().item<int>();
  };
  EXPECT_LT(named({}), 25);
  EXPECT_GT(named({.class_weights = at::tensor({0.55f, 5.5f})}), 50);
}

TEST(LinearHead, SeveralLabelsASample) {
  const auto samples = [](std::int64_t count, std::uint64_t seed) {
    const at::Tensor features = normal_tensor({count, 6}, seed);
    return LinearSamples{features, (features.slice(1, 0, 3) > 0.5).to(at::kFloat)};
  };
  const LinearSamples validation = samples(100, 52);
  for (const LossKind kind : {LossKind::binary, LossKind::asymmetric}) {
    LinearHeadOptions options;
    options.loss.kind = kind;
    const TrainedHead trained = train_linear_head(samples(400, 51), validation, options);
    EXPECT_GT(figures(trained).score, 0.98) << "mAP";
    const at::Tensor named = trained.head.logits(validation.features) > 0;
    EXPECT_GT((named == (validation.targets > 0.5)).to(at::kFloat).mean().item<float>(), 0.9);
  }
}

TEST(LinearHead, LargeSetsAreTakenInBatches) {
  const LinearSamples training = clouds(300, 2.5, 61);
  const LinearSamples validation = clouds(100, 2.5, 62);
  const auto trained = [&](std::uint64_t seed) {
    LinearHeadOptions options;
    options.rates = {3e-2};
    options.weight_decays = {0};
    options.batch_size = 32;
    options.seed = seed;
    return train_linear_head(training, validation, options);
  };
  const TrainedHead one = trained(1);
  EXPECT_TRUE(at::equal(one.head.weight, trained(1).head.weight));
  EXPECT_NE(one.candidates[1].loss, trained(2).candidates[1].loss);
  EXPECT_GT(one.candidates[1].score, 0.8);
}

TEST(LinearHead, RefusesWhatMakesNoSense) {
  const LinearSamples samples = clouds(20, 1, 1);
  const auto expect_refusal = [&](const std::function<void(LinearHeadOptions&)>& change) {
    LinearHeadOptions options;
    change(options);
    EXPECT_THROW(train_linear_head(samples, samples, options), UsageError);
  };
  expect_refusal([](LinearHeadOptions& options) { options.rates = {}; });
  expect_refusal([](LinearHeadOptions& options) { options.rates = {-1}; });
  expect_refusal([](LinearHeadOptions& options) { options.penalties = {0}; });
  expect_refusal([](LinearHeadOptions& options) { options.weight_decays = {-1}; });
  expect_refusal([](LinearHeadOptions& options) { options.batch_size = 0; });
  const LinearSamples none{samples.features.slice(0, 0, 0), samples.targets.slice(0, 0, 0)};
  EXPECT_THROW(trained_on(samples, none), std::invalid_argument);
  EXPECT_THROW(trained_on(none, samples), std::invalid_argument);
  EXPECT_THROW(trained_on(samples, {samples.features.slice(1, 1), samples.targets}),
               std::invalid_argument);
  EXPECT_THROW(trained_on(samples, {samples.features, samples.targets.slice(1, 1)}),
               std::invalid_argument);
}

}  // namespace
}  // namespace vitascope::train
