#include "vit/explain/attention_audit.h"

#include <gmock/gmock.h>

#include <cmath>
#include <numbers>

#include "tests/vit/explain/golden_vit.h"
#include "vit/explain/statistics.h"

namespace vitascope::explain {
namespace {

using tests::expect_close;
using tests::GoldenVit;

using testing::DoubleNear;
using testing::Pointwise;
using testing::UnorderedElementsAre;

/// The last block's row of the class token and all behind it, in float64, with its weights given.
class LastBlock {
 public:
  explicit LastBlock(const GoldenVit& model) : model_(model), config_(model.network.config()) {
    const std::string block = "blocks." + std::to_string(config_.depth - 1) + ".";
    const std::string before = "blocks." + std::to_string(config_.depth - 2) + ".out";
    const at::Tensor tokens = model[before][0].to(at::kDouble);
    class_token_ = tokens[0];
    const at::Tensor qkv = linear(norm(tokens, block + "norm1"), block + "attn.qkv");
    values_ = qkv.slice(1, 2 * config_.width).view({-1, config_.heads, config_.head_width()});
    block_ = block;
  }

  /// weights [H, N] -> probabilities
  at::Tensor operator()(const at::Tensor& weights) const {
    const at::Tensor heads = at::einsum("hn,nhd->hd", {weights, values_}).flatten();
    const at::Tensor x = class_token_ + scaled(linear(heads, block_ + "attn.proj"), "ls1");
    const at::Tensor hidden = at::gelu(linear(norm(x, block_ + "norm2"), block_ + "mlp.fc1"));
    const at::Tensor out = x + scaled(linear(hidden, block_ + "mlp.fc2"), "ls2");
    return linear(norm(out, "norm"), "head").softmax(-1);
  }

 private:
  at::Tensor weight(const std::string& key) const { return model_.weight(key).to(at::kDouble); }
  at::Tensor linear(const at::Tensor& x, const std::string& name) const {
    return at::linear(x, weight(name + ".weight"), weight(name + ".bias"));
  }
  at::Tensor norm(const at::Tensor& x, const std::string& name) const {
    return at::layer_norm(x, {config_.width}, weight(name + ".weight"), weight(name + ".bias"),
                          config_.norm_epsilon);
  }
  at::Tensor scaled(const at::Tensor& x, const std::string& name) const {
    return config_.layer_scale ? x * weight(block_ + name + ".gamma") : x;
  }

  const GoldenVit& model_;
  model::Config config_;
  std::string block_;
  at::Tensor class_token_, values_;
};

/// The class token's weights in the last block, [H, N].
at::Tensor class_row(const GoldenVit& model) {
  const std::string key = "blocks." + std::to_string(model.network.config().depth - 1) + ".attn";
  return model[key].select(1, 0).to(at::kDouble);
}

std::vector<std::vector<std::int64_t>> rows_of(const at::Tensor& index) {
  std::vector<std::vector<std::int64_t>> result;
  for (std::int64_t i = 0; i < index.size(0); ++i) {
    const at::Tensor row = index[i].to(at::kLong).contiguous();
    const auto* data = row.const_data_ptr<std::int64_t>();
    result.emplace_back(data, data + row.numel());
  }
  return result;
}

class GoldenAudit : public testing::TestWithParam<const char*> {};

TEST_P(GoldenAudit, PermutationsAndEvenWeights) {
  const GoldenVit model(GetParam());
  const LastBlock answer(model);
  const at::Tensor weights = class_row(model);
  const PermutationAudit audit =
      permutation_audit(answer, weights, rows_of(model["permutation.index"]));
  expect_close(at::tensor(audit.distances, at::kDouble), model["permutation.tvd"], 1e-5);
  const Json& facts = model.description().at("permutation");
  EXPECT_NEAR(audit.median, facts.at("median_tvd").get<double>(), 1e-5);
  EXPECT_NEAR(uniform_distance(answer, weights), facts.at("uniform_tvd").get<double>(), 1e-5);
}

TEST_P(GoldenAudit, AnAdversaryKeepsTheAnswer) {
  const GoldenVit model(GetParam());
  const LastBlock answer(model);
  const at::Tensor weights = class_row(model);
  const Adversary found = adversarial_weights(answer, weights, {.epsilon = 0.02});
  const at::Tensor moved = (answer(found.weights) - answer(weights)).abs().sum() / 2;
  EXPECT_LE(moved.item<double>(), 0.02);
  EXPECT_NEAR(found.distance, moved.item<double>(), 1e-12);
  expect_close(found.weights.sum(1), at::ones({weights.size(0)}), 1e-12);
  EXPECT_GE(found.weights.min().item<double>(), 0);
  // 3 heads of 17 and more tokens leave far more freedom than 5 classes take away.
  EXPECT_GT(found.divergence, 0.3);
}

/// Two classes, the first of which gets the weight of the first token.
TEST(PermutationAudit, CountsWhenAnotherClassLeads) {
  const auto answer = [](const at::Tensor& weights) {
    return at::stack({weights[0][0], 1 - weights[0][0]});
  };
  const at::Tensor weights = at::tensor({.9, .1, 0.0}, at::kDouble).unsqueeze(0);
  const PermutationAudit audit =
      permutation_audit(answer, weights, {{0, 1, 2}, {1, 0, 2}, {0, 2, 1}, {2, 1, 0}});
  EXPECT_THAT(audit.distances, Pointwise(DoubleNear(1e-12), {0.0, .8, 0.0, .9}));
  EXPECT_DOUBLE_EQ(audit.flipped, .5);
}

VITASCOPE_FOR_GOLDEN_VITS(GoldenAudit);

/// y = softmax(w (sum_i alpha_i h_i) + b), of statistics.json.
struct Toy {
  Json facts = read_json(vitascope::tests::golden("explain/statistics.json")).at("permutation_toy");
  at::Tensor h = matrix("h"), w = matrix("w"), b = vector("b");
  at::Tensor alpha = vector("alpha").unsqueeze(0);

  at::Tensor operator()(const at::Tensor& weights) const {
    return (at::mv(w, at::mv(h.t(), weights[0])) + b).softmax(-1);
  }
  at::Tensor vector(const char* key) const {
    return at::tensor(facts.at(key).get<std::vector<double>>(), at::kDouble);
  }
  at::Tensor matrix(const char* key) const {
    std::vector<at::Tensor> rows;
    for (const Json& row : facts.at(key)) {
      rows.push_back(at::tensor(row.get<std::vector<double>>(), at::kDouble));
    }
    return at::stack(rows);
  }
};

TEST(PermutationAudit, ToyIsTheGoldenOne) {
  const Toy toy;
  ASSERT_EQ(toy.facts.at("sets").size(), 2);
  for (const Json& set : toy.facts.at("sets")) {
    const PermutationAudit audit = permutation_audit(
        toy, toy.alpha, set.at("permutations").get<std::vector<std::vector<std::int64_t>>>());
    EXPECT_THAT(audit.distances,
                Pointwise(DoubleNear(1e-6), set.at("tvd").get<std::vector<double>>()));
    const double expected = set.at("median_tvd");
    EXPECT_NEAR(audit.median, expected, 1e-6 * expected);
  }
}

TEST(PermutationAudit, ShufflesAreSeededAndHoldEachTokenOnce) {
  const auto first = shuffles(5, 3, 7);
  ASSERT_EQ(first.size(), 3);
  for (const auto& order : first) EXPECT_THAT(order, UnorderedElementsAre(0, 1, 2, 3, 4));
  EXPECT_EQ(shuffles(5, 3, 7), first);
  EXPECT_NE(shuffles(5, 3, 8), first);
  EXPECT_NE(first[0], first[1]);
}

TEST(PermutationAudit, ShufflesAreUniform) {
  // 6000 shuffles of 3: each of the 6 orders 1000 times, standard deviation 29.
  std::map<std::vector<std::int64_t>, int> count;
  for (const auto& order : shuffles(3, 6000, 1)) ++count[order];
  EXPECT_EQ(count.size(), 6);
  for (const auto& [order, times] : count) EXPECT_NEAR(times, 1000, 120);
}

TEST(Adversary, ComesNearTheBestOfTheToy) {
  // The best of 200 starts of SciPy's SLSQP over the same weights and constraint.
  const std::pair<double, double> best[] = {{.01, .28118}, {.05, .36937}, {.2, .48407}};
  const Toy toy;
  for (const auto& [epsilon, divergence] : best) {
    SCOPED_TRACE(epsilon);
    const Adversary found = adversarial_weights(toy, toy.alpha, {.epsilon = epsilon, .starts = 10});
    EXPECT_LE(found.distance, epsilon);
    EXPECT_GT(found.divergence, divergence * 2 / 3);
    EXPECT_LT(found.divergence, divergence * 1.001);
  }
}

TEST(Adversary, OfAModelThatIgnoresItsWeightsAttendsToTheLeastToken) {
  // Divergence is convex in the other weights, so the most there is lies at a corner.
  const at::Tensor weights = at::tensor({.5, .3, .15, .05}, at::kDouble).unsqueeze(0);
  const auto constant = [](const at::Tensor& given) {
    return at::tensor({.25, .75}, at::kDouble) + 0 * given.sum();
  };
  const Adversary found = adversarial_weights(constant, weights, {.starts = 16});
  EXPECT_EQ(found.weights.argmax().item<std::int64_t>(), 3);
  const double bound = jensen_shannon_divergence(std::vector<double>{.5, .3, .15, .05},
                                                 std::vector<double>{0, 0, 0, 1});
  EXPECT_NEAR(found.divergence, bound, .01 * bound);
}

TEST(Adversary, CanNotLeaveAnAnswerThatShowsTheWeights) {
  // Divergence is at most ln 2 times the total variation distance (Lin 1991).
  const at::Tensor weights = at::tensor({.5, .3, .15, .05}, at::kDouble).unsqueeze(0);
  const auto shown = [](const at::Tensor& given) { return given[0]; };
  const Adversary found = adversarial_weights(shown, weights, {.epsilon = .1});
  EXPECT_GT(found.divergence, 0);
  EXPECT_LE(found.distance, .1);
  EXPECT_LE(found.divergence, .1 * std::numbers::ln2);
}

TEST(Adversary, IsTheRealWeightsWhenNothingElseWillDo) {
  const at::Tensor weights = at::tensor({.5, .3, .15, .05}, at::kDouble).unsqueeze(0);
  const auto shown = [](const at::Tensor& given) { return given[0]; };
  const Adversary found = adversarial_weights(shown, weights, {.epsilon = 0});
  EXPECT_TRUE(found.weights.equal(weights));
  EXPECT_EQ(found.divergence, 0);
  EXPECT_EQ(found.distance, 0);
}

}  // namespace
}  // namespace vitascope::explain
