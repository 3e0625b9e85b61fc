#include "vit/caption/alignment/alignment.h"

#include <ATen/ATen.h>
#include <gmock/gmock.h>

#include <tuple>

#include "tests/vit/caption/golden_mechanism.h"
#include "vit/caption/alignment/gate.h"
#include "vit/caption/losses.h"
#include "vit/error.h"

namespace vitascope::caption {
namespace {

using tests::GoldenMechanism;

at::Tensor scores(const Alignment& alignment, const at::Tensor& queries, const at::Tensor& keys) {
  return std::visit(
      [&](const auto& kind) -> at::Tensor {
        if constexpr (std::is_same_v<std::decay_t<decltype(kind)>, MultiHead>) {
          return {};
        } else {
          return kind.scores(queries, keys);
        }
      },
      alignment.score);
}

/// A step at a time, as a decoder does: [B, T, ...].
Aligned step_by_step(const Alignment& alignment, const at::Tensor& queries,
                     const Prepared& prepared) {
  std::vector<at::Tensor> contexts, weights;
  for (std::int64_t t = 0; t < queries.size(1); ++t) {
    const Aligned aligned = alignment.align(queries.narrow(1, t, 1), prepared, t);
    contexts.push_back(aligned.context);
    weights.push_back(aligned.weights);
  }
  return {at::cat(contexts, 1), at::cat(weights, 1)};
}

TEST(Additive, MatchesGolden) {
  const GoldenMechanism golden("additive");
  const at::Tensor query = golden.leaf("query"), memory = golden.leaf("memory");
  Alignment alignment(
      {.query_width = query.size(2), .annotation_width = memory.size(2), .width = 4});
  auto& additive = std::get<Additive>(alignment.score);
  additive = {{golden.leaf("W_q")}, {golden.leaf("W_m"), golden.leaf("b")}, golden.leaf("v")};
  const Prepared prepared = alignment.prepare({memory, 1, 7, golden.mask(7)});
  golden.expect("energies", scores(alignment, query, prepared.keys));
  const Aligned aligned = alignment.align(query, prepared);
  golden.expect("weights", aligned.weights);
  golden.expect("context", aligned.context);
  (aligned.context * golden["dcontext"]).sum().backward();
  golden.expect_gradient("query", query);
  golden.expect_gradient("memory", memory);
  golden.expect_gradient("W_q", additive.query.weight);
  golden.expect_gradient("W_m", additive.annotation.weight);
  golden.expect_gradient("b", additive.annotation.bias);
  golden.expect_gradient("v", additive.v);
}

class Luong : public testing::TestWithParam<std::tuple<Reach, Score>> {};

TEST_P(Luong, MatchesGolden) {
  const auto [reach, score] = GetParam();
  const GoldenMechanism golden(
      std::string("luong_").append(reach_name(reach)).append("_").append(score_name(score)));
  const Json sizes = tests::golden_sizes("luong");
  const at::Tensor query = golden.leaf("query"), memory = golden.leaf("memory");
  const AlignmentConfig config{.score = score,
                               .reach = reach,
                               .half_width = sizes.at("half_width"),
                               .query_width = query.size(2),
                               .annotation_width = memory.size(2),
                               .width = sizes.at("A")};
  Alignment alignment(config);
  Slots slots;
  alignment.list(config, "", slots);
  golden.fill(slots);
  const std::int64_t places = memory.size(1);
  const Prepared prepared = alignment.prepare({memory, 1, places, golden.mask(places)});

  golden.expect("energies", scores(alignment, query, prepared.keys));
  if (reach == Reach::local_p) {
    const at::Tensor p = alignment.window.predicted(query)[0].squeeze(-1);
    golden.expect("p", p * golden["lengths"].unsqueeze(1));
    const Field field = alignment.window.field(query, prepared.places, 0);
    golden.expect("window", field.visible.to(at::kFloat), 0);
  }
  const Aligned aligned = step_by_step(alignment, query, prepared);
  golden.expect("weights", aligned.weights);
  golden.expect("context", aligned.context);
  const at::Tensor joined = golden.leaf("W_c");
  const at::Tensor out = at::linear(at::cat({aligned.context, query}, -1), joined).tanh();
  golden.expect("out", out);
  (out * golden["dout"]).sum().backward();
  golden.expect_gradients(slots);
  golden.expect_gradient("query", query);
  golden.expect_gradient("memory", memory);
  golden.expect_gradient("W_c", joined);

  if (reach != Reach::local_m) {
    tests::expect_close(alignment.align(query, prepared).weights, aligned.weights, 1e-6);
  }
}

INSTANTIATE_TEST_SUITE_P(
    All, Luong,
    testing::Combine(testing::Values(Reach::global, Reach::local_m, Reach::local_p),
                     testing::Values(Score::dot, Score::general, Score::concat)),
    [](const auto& info) {
      return std::string(reach_name(std::get<0>(info.param)))
          .append("_")
          .append(score_name(std::get<1>(info.param)));
    });

TEST(LocalPOnAGrid, MatchesGolden) {
  const GoldenMechanism golden("local_p_grid");
  const Json sizes = tests::golden_sizes("local_grid");
  const at::Tensor query = golden.leaf("query"), features = golden.leaf("features");
  const AlignmentConfig config{.score = Score::general,
                               .reach = Reach::local_p_grid,
                               .half_width = sizes.at("half_width"),
                               .query_width = query.size(2),
                               .annotation_width = features.size(3),
                               .width = sizes.at("P")};
  Alignment alignment(config);
  Slots slots;
  alignment.list(config, "", slots);
  golden.fill(slots);
  const std::int64_t rows = features.size(1), columns = features.size(2);
  const Prepared prepared = alignment.prepare({features.flatten(1, 2), rows, columns});
  const auto centre = alignment.window.predicted(query);
  golden.expect("p", at::cat({centre[0] * rows, centre[1] * columns}, -1));
  const Field field = alignment.window.field(query, prepared.places, 0);
  golden.expect("window", field.visible.to(at::kFloat), 0);
  const Aligned aligned = alignment.align(query, prepared);
  golden.expect("weights", aligned.weights);
  golden.expect("context", aligned.context);
  (aligned.context * golden["dcontext"]).sum().backward();
  golden.expect_gradients(slots);
  golden.expect_gradient("query", query);
  golden.expect_gradient("features", features);
}

TEST(ShowAttendTell, AttentionGateAndPenaltyMatchGolden) {
  const GoldenMechanism golden("sat_attention");
  const at::Tensor features = golden.leaf("features"), hidden = golden.leaf("hidden");
  const AlignmentConfig config{
      .query_width = hidden.size(2), .annotation_width = features.size(3), .width = 6};
  Alignment alignment(config);
  Gate gate;
  Slots slots;
  alignment.list(config, "att.", slots);
  gate.list(hidden.size(2), "gate.", slots);
  golden.fill(slots);
  const Prepared prepared =
      alignment.prepare({features.flatten(1, 2), features.size(1), features.size(2)});
  golden.expect("energies", scores(alignment, hidden, prepared.keys));
  const Aligned aligned = step_by_step(alignment, hidden, prepared);
  golden.expect("alpha", aligned.weights);
  const at::Tensor beta = gate.beta(hidden);
  golden.expect("beta", beta);
  golden.expect("context", aligned.context * beta);
  const at::Tensor live = at::ones({hidden.size(0), hidden.size(1)}, at::kBool);
  const at::Tensor penalty =
      doubly_stochastic_penalty(aligned.weights, live, golden.number("lambda"));
  golden.expect("penalty", penalty);
  penalty.backward({}, true);
  golden.expect_gradient("features", features, "penalty_grad.");
  golden.expect_gradient("hidden", hidden, "penalty_grad.");
  golden.expect_gradient("att.v", std::get<Additive>(alignment.score).v, "penalty_grad.");
  // The gradients of both add up.
  (aligned.context * beta * golden["dcontext"]).sum().backward();
  golden.expect_gradients(slots);
  golden.expect_gradient("features", features);
  golden.expect_gradient("hidden", hidden);
}

/// Any score with any window, and random weights.
class AnyAlignment : public testing::TestWithParam<std::tuple<Score, Reach>> {
 protected:
  AnyAlignment() : alignment(config) {
    Slots slots;
    alignment.list(config, "", slots);
    std::uint64_t seed = 1;
    for (const Slot& slot : slots) *slot.tensor = tests::normal_tensor(slot.shape, ++seed);
  }

  const AlignmentConfig config{.score = std::get<0>(GetParam()),
                               .reach = std::get<1>(GetParam()),
                               .half_width = 2,
                               .query_width = 8,
                               .annotation_width = 8,
                               .width = 8,
                               .heads = 2};
  Alignment alignment;
  const at::Tensor values = tests::normal_tensor({2, 12, 8}, 100);
  const at::Tensor queries = tests::normal_tensor({2, 3, 8}, 101);
};

TEST_P(AnyAlignment, WhatIsHiddenCountsNothing) {
  at::Tensor mask = at::ones({2, 12}, at::kBool);
  mask[0].narrow(0, 7, 5).fill_(false);
  at::Tensor changed = values.clone();
  changed[0].narrow(0, 7, 5).fill_(1000);
  const Aligned one = alignment.align(queries, alignment.prepare({values, 3, 4, mask}), 6);
  const Aligned other = alignment.align(queries, alignment.prepare({changed, 3, 4, mask}), 6);
  tests::expect_close(other.context, one.context, 1e-6);
  EXPECT_EQ(one.weights[0].narrow(1, 7, 5).abs().max().item<float>(), 0);
  EXPECT_GT(one.weights[1].abs().max().item<float>(), 0);
  // The first photo's hidden places are as if they were not there.
  const Aligned all = alignment.align(queries, alignment.prepare({changed, 3, 4}), 6);
  EXPECT_GT((all.weights[0] - one.weights[0]).abs().max().item<float>(), 1e-4);
}

TEST_P(AnyAlignment, APhotoOfWhichNothingIsSeenGives0) {
  const at::Tensor mask = at::tensor({0, 1}).to(at::kBool).unsqueeze(1).expand({2, 12});
  const at::Tensor learning = queries.clone().requires_grad_();
  const at::Tensor looked = values.clone().requires_grad_();
  const Aligned aligned =
      alignment.align(learning, alignment.prepare({looked, 3, 4, mask.contiguous()}), 1);
  EXPECT_EQ(aligned.weights[0].abs().max().item<float>(), 0);
  (aligned.context.square().sum() + aligned.weights.square().sum()).backward();
  EXPECT_EQ(looked.grad()[0].abs().max().item<float>(), 0);
  EXPECT_TRUE(learning.grad().isfinite().all().item<bool>());
  EXPECT_GT(looked.grad()[1].abs().max().item<float>(), 0);
  if (config.score == Score::multi_head) return;  // its output projection has a bias
  EXPECT_EQ(aligned.context[0].abs().max().item<float>(), 0);
}

TEST_P(AnyAlignment, WeightsOfAWindowStayInside) {
  const Aligned aligned = alignment.align(queries, alignment.prepare({values, 3, 4}), 5);
  const at::Tensor sums = aligned.weights.sum(-1);
  EXPECT_LE(sums.max().item<float>(), 1 + 1e-5);
  if (config.reach == Reach::local_m) {
    EXPECT_EQ(aligned.weights.narrow(2, 0, 3).abs().max().item<float>(), 0);
    EXPECT_EQ(aligned.weights.narrow(2, 8, 4).abs().max().item<float>(), 0);
  }
  if (config.reach == Reach::global || config.reach == Reach::local_m) {
    EXPECT_NEAR(sums.min().item<float>(), 1, 1e-5);
  }
}

INSTANTIATE_TEST_SUITE_P(All, AnyAlignment,
                         testing::Combine(testing::Values(Score::additive, Score::dot,
                                                          Score::general, Score::concat,
                                                          Score::scaled_dot, Score::multi_head),
                                          testing::Values(Reach::global, Reach::local_m,
                                                          Reach::local_p, Reach::local_p_grid)),
                         [](const auto& info) {
                           return std::string(score_name(std::get<0>(info.param)))
                               .append("_")
                               .append(reach_name(std::get<1>(info.param)));
                         });

TEST(ScaledDot, IsOneHeadOfScaledDotProducts) {
  const at::Tensor query = tests::normal_tensor({2, 3, 5}, 1);
  const at::Tensor values = tests::normal_tensor({2, 7, 6}, 2);
  ScaledDot score;
  score.query.weight = tests::normal_tensor({4, 5}, 3);
  score.key.weight = tests::normal_tensor({4, 6}, 4);
  const at::Tensor k = at::linear(values, score.key.weight);
  const at::Tensor expected = at::scaled_dot_product_attention(
      at::linear(query, score.query.weight).unsqueeze(1), k.unsqueeze(1), values.unsqueeze(1));
  const at::Tensor weights = score.scores(query, score.keys(values)).softmax(-1);
  tests::expect_close(at::bmm(weights, values), expected.squeeze(1), 1e-5);
}

TEST(AlignmentConfig, WhatDoesNotFitIsRefused) {
  const auto refusal = [](const AlignmentConfig& config) -> std::string {
    try {
      validate(config);
    } catch (const UsageError& error) {
      return error.what();
    }
    return "accepted";
  };
  EXPECT_EQ(refusal({}), "accepted");
  EXPECT_THAT(refusal({.score = Score::dot, .query_width = 8, .annotation_width = 16}),
              testing::AllOf(testing::HasSubstr("8 and 16"), testing::HasSubstr("'general'")));
  EXPECT_THAT(refusal({.score = Score::multi_head, .width = 10, .heads = 3}),
              testing::HasSubstr("10 wide cannot be split over 3 heads"));
  EXPECT_THAT(refusal({.reach = Reach::local_p, .half_width = 0}), testing::HasSubstr("is 0"));
  EXPECT_THAT(refusal({.width = 0}), testing::HasSubstr("the attention's width is 0"));
  EXPECT_FALSE(score_named("cosine"));
  EXPECT_EQ(score_named("scaled_dot"), Score::scaled_dot);
  EXPECT_EQ(reach_named("local_p_grid"), Reach::local_p_grid);
}

}  // namespace
}  // namespace vitascope::caption
