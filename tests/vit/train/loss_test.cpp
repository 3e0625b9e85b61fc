#include "vit/train/loss.h"

#include <ATen/ATen.h>
#include <gmock/gmock.h>

#include <stdexcept>

#include "tests/vit/train/golden_training.h"

namespace vitascope::train {
namespace {

using Lists = std::vector<std::vector<std::int64_t>>;

at::Tensor hot_rows(const at::Tensor& labels, std::int64_t classes) {
  return at::one_hot(labels.to(at::kLong), classes).to(at::kDouble);
}

struct Answer {
  double loss;
  at::Tensor gradient;
};

Answer answer(const at::Tensor& logits, const at::Tensor& targets, const LossOptions& options) {
  const at::Tensor z = logits.detach().clone().requires_grad_();
  const at::Tensor loss = sample_losses(z, targets, options).mean();
  loss.backward();
  return {loss.item<double>(), z.grad()};
}

/// Golden problems, and each with its file's name for it.
class GoldenLoss : public testing::Test {
 protected:
  void expect(const std::string& name, const at::Tensor& targets, const LossOptions& options) {
    SCOPED_TRACE(name);
    const double exact = description.at(name);
    const Answer in_double = answer(logits.to(at::kDouble), targets, options);
    tests::expect_relative(in_double.loss, exact, 1e-9);
    // The gradients are stored as float32.
    EXPECT_LE(tests::relative_error(in_double.gradient, tensors["grad." + name]), 1e-7);
    const Answer in_float = answer(logits, targets.to(at::kFloat), options);
    tests::expect_relative(in_float.loss, exact, 1e-6);
    EXPECT_LE(tests::relative_error(in_float.gradient, tensors["grad." + name]), 1e-6);
  }

  const tests::GoldenTensors tensors{"losses"};
  const Json description = tests::golden_json("losses");
  const at::Tensor logits = tensors["logits"];
  const at::Tensor targets = hot_rows(tensors["labels"], logits.size(1));
  const at::Tensor mixed = tensors["mixup_target"];
  const at::Tensor class_weights = tensors["class_weights"];
  const double smoothing = description.at("smoothing");
};

TEST_F(GoldenLoss, CrossEntropy) {
  expect("cross_entropy", targets, {});
  expect("label_smoothing", targets, {.smoothing = smoothing});
  expect("class_weighted", targets, {.class_weights = class_weights});
  expect("class_weighted_smoothing", targets,
         {.smoothing = smoothing, .class_weights = class_weights});
}

TEST_F(GoldenLoss, CrossEntropyOfMixedTargets) {
  // Smoothed before or after they are mixed, the targets are the same.
  const double lambda = description.at("mixup_lam");
  const at::Tensor sharp = targets * lambda + targets.flip(0) * (1 - lambda);
  expect("soft_target_mixup", sharp, {.smoothing = smoothing});
  EXPECT_LE(tests::relative_error(
                sharp * (1 - smoothing) + smoothing / static_cast<double>(logits.size(1)), mixed),
            1e-7);
}

TEST_F(GoldenLoss, Focal) {
  const double gamma = description.at("gamma");
  expect("focal", targets, {.kind = LossKind::focal, .gamma = gamma});
  expect("focal_alpha", targets,
         {.kind = LossKind::focal, .class_weights = class_weights, .gamma = gamma});
}

TEST_F(GoldenLoss, BinaryOnSoftTargets) {
  const double lambda = description.at("mixup_lam");
  expect("binary_soft_target", targets * lambda + targets.flip(0) * (1 - lambda),
         {.kind = LossKind::binary, .smoothing = smoothing});
}

TEST_F(GoldenLoss, OfExtremeLogits) {
  const Json& extreme = description.at("extreme");
  const auto rows = extreme.at("logits").get<std::vector<std::vector<float>>>();
  const at::Tensor big = at::stack({at::tensor(rows.at(0)), at::tensor(rows.at(1))});
  const auto labels = extreme.at("labels").get<std::vector<std::int64_t>>();
  const at::Tensor hot = hot_rows(at::tensor(labels), 3);
  const std::pair<std::string, LossOptions> cases[] = {
      {"cross_entropy", {}},
      {"label_smoothing", {.smoothing = smoothing}},
      {"focal", {.kind = LossKind::focal, .gamma = description.at("gamma")}}};
  for (const auto& [name, options] : cases) {
    SCOPED_TRACE(name);
    const Answer in_double = answer(big.to(at::kDouble), hot, options);
    tests::expect_relative(in_double.loss, extreme.at(name), 1e-9);
    const Answer in_float = answer(big, hot, options);
    tests::expect_relative(in_float.loss, extreme.at(name), 1e-6);
    EXPECT_TRUE(at::isfinite(in_float.gradient).all().item<bool>());
  }
}

TEST(Loss, AsymmetricIsThatOfItsFormulaAndOfTimm) {
  const Json& golden = tests::golden_training().at("asymmetric");
  const std::int64_t classes = golden.at("classes");
  const at::Tensor logits = tests::tensor_of(golden.at("logits")).view({-1, classes});
  const at::Tensor targets = tests::tensor_of(golden.at("targets")).view({-1, classes});
  ASSERT_EQ(golden.at("cases").size(), 5);
  for (const Json& item : golden.at("cases")) {
    const Answer got = answer(logits, targets,
                              {.kind = LossKind::asymmetric,
                               .positive_gamma = item.at("positive_gamma"),
                               .negative_gamma = item.at("negative_gamma"),
                               .margin = item.at("margin")});
    tests::expect_relative(got.loss, item.at("loss"), 1e-9);
    EXPECT_LE(tests::relative_error(got.gradient.flatten(), tests::tensor_of(item.at("gradient"))),
              1e-9);
  }
}

TEST(Loss, IsFiniteAtEveryEnd) {
  const at::Tensor logits =
      at::tensor({1e4F, -1e4F, 0.F, -1e4F, 1e4F, 100.F, 88.F, -88.F, 1e4F}).view({3, 3});
  const at::Tensor targets = at::tensor({1.F, 0.F, 0.F, 1.F, 0.F, 1.F, 0.F, 1.F, 1.F}).view({3, 3});
  for (const LossKind kind :
       {LossKind::cross_entropy, LossKind::focal, LossKind::binary, LossKind::asymmetric}) {
    for (const double gamma : {0., .5, 1., 2.}) {
      for (const double margin : {0., .05}) {
        const LossOptions options{.kind = kind,
                                  .gamma = gamma,
                                  .positive_gamma = gamma,
                                  .negative_gamma = gamma,
                                  .margin = margin};
        const Answer got = answer(logits, targets, options);
        EXPECT_TRUE(std::isfinite(got.loss)) << int(kind) << " " << gamma << " " << margin;
        EXPECT_TRUE(at::isfinite(got.gradient).all().item<bool>())
            << int(kind) << " " << gamma << " " << margin;
      }
    }
  }
}

TEST(Loss, SpecialCasesAgree) {
  at::manual_seed(1);
  const at::Tensor logits = at::randn({4, 5}, at::kDouble);
  const at::Tensor targets = hot_rows(at::tensor({0, 4, 2, 2}), 5);
  const double plain = answer(logits, targets, {}).loss;
  // Focal without its exponent is cross entropy; asymmetric without exponents and margin is the
  // binary loss, summed over classes.
  tests::expect_relative(answer(logits, targets, {.kind = LossKind::focal, .gamma = 0}).loss, plain,
                         1e-12);
  tests::expect_relative(
      answer(logits, targets,
             {.kind = LossKind::asymmetric, .positive_gamma = 0, .negative_gamma = 0, .margin = 0})
          .loss,
      5 * answer(logits, targets, {.kind = LossKind::binary}).loss, 1e-12);
}

TEST(Loss, PartsOfABatchAddUp) {
  at::manual_seed(2);
  const at::Tensor logits = at::randn({6, 3}, at::kDouble);
  const at::Tensor targets = hot_rows(at::tensor({0, 1, 2, 2, 1, 0}), 3);
  const LossOptions options{.smoothing = .1, .class_weights = at::tensor({.2, 1., 3.})};
  const SampleLosses first = sample_losses(logits.slice(0, 0, 2), targets.slice(0, 0, 2), options);
  const SampleLosses rest = sample_losses(logits.slice(0, 2), targets.slice(0, 2), options);
  const at::Tensor joined =
      (first.values.sum() + rest.values.sum()) / (first.weights.sum() + rest.weights.sum());
  tests::expect_relative(joined.item<double>(), answer(logits, targets, options).loss, 1e-12);
}

TEST(Loss, OfHalfLogitsIsInFloat) {
  const at::Tensor logits = at::tensor({1.F, 2.F, 3.F, 4.F}).view({2, 2});
  const at::Tensor targets = hot_rows(at::tensor({0, 1}), 2);
  const SampleLosses half = sample_losses(logits.to(at::kBFloat16), targets, {});
  EXPECT_EQ(half.values.scalar_type(), at::kFloat);
  EXPECT_EQ(half.mean().item<float>(), sample_losses(logits, targets, {}).mean().item<float>());
}

TEST(Loss, TargetsAreOneWhereALabelIs) {
  const at::Tensor targets = targets_of(Lists{{2}, {}, {0, 1}}, 3);
  EXPECT_TRUE(
      at::equal(targets, at::tensor({0.F, 0.F, 1.F, 0.F, 0.F, 0.F, 1.F, 1.F, 0.F}).view({3, 3})));
  EXPECT_THROW(targets_of(Lists{{3}}, 3), std::invalid_argument);
  EXPECT_THROW(targets_of(Lists{{-1}}, 3), std::invalid_argument);
}

TEST(Loss, RefusesShapesThatDoNotFit) {
  const at::Tensor logits = at::zeros({2, 3});
  EXPECT_THROW(sample_losses(logits, at::zeros({2, 2}), {}), std::invalid_argument);
  EXPECT_THROW(sample_losses(logits.view({6}), at::zeros({6}), {}), std::invalid_argument);
  EXPECT_THROW(sample_losses(logits, logits, {.class_weights = at::ones({2})}),
               std::invalid_argument);
}

}  // namespace
}  // namespace vitascope::train
