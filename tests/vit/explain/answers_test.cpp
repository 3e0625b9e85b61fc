#include "vit/explain/answers.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include "tests/vit/explain/golden_vit.h"
#include "tests/vit/model/tiny_model.h"

namespace vitascope::explain {
namespace {

using tests::expect_close;
using tests::GoldenVit;

class GoldenAnswers : public testing::TestWithParam<const char*> {};

TEST_P(GoldenAnswers, PermutedAndEvenWeightsMoveTheAnswerAsInPython) {
  const GoldenVit vit(GetParam());
  const LastAttention last = last_attention(vit.network, vit["image"]);
  EXPECT_EQ(last.layer, vit.network.config().depth - 1);
  const std::string key = "blocks." + std::to_string(last.layer) + ".attn";
  expect_close(last.weights.squeeze(1), vit[key].select(1, 0), 1e-5);

  const at::Tensor index = vit["permutation.index"].to(at::kLong).contiguous();
  std::vector<std::vector<std::int64_t>> permutations;
  for (std::int64_t i = 0; i < index.size(0); ++i) {
    const auto* row = index[i].const_data_ptr<std::int64_t>();
    permutations.emplace_back(row, row + index.size(1));
  }
  const PermutationAudit audit = permutation_audit(last.answer, last.weights, permutations);
  expect_close(at::tensor(audit.distances, at::kDouble), vit["permutation.tvd"], 2e-5);
  const Json& facts = vit.description().at("permutation");
  EXPECT_NEAR(uniform_distance(last.answer, last.weights), facts.at("uniform_tvd").get<double>(),
              1e-5);
}
VITASCOPE_FOR_GOLDEN_VITS(GoldenAnswers);

/// Every kind of head reads its own queries.
TEST(LastAttention, ItsOwnWeightsGiveTheNetworksAnswer) {
  using Change = void (*)(model::Config&);
  const std::pair<Change, std::int64_t> kinds[] = {
      {[](model::Config&) {}, 1},
      {[](model::Config& config) { config.registers = 3; }, 1},
      {[](model::Config& config) {
         config.class_token = false;
         config.position_prefix = 0;
         config.fc_norm = true;
         config.pooling = model::Pooling::mean_patches;
       },
       20},
      {[](model::Config& config) { config.pooling = model::Pooling::class_and_mean; }, 1},
      {[](model::Config& config) {
         config.distillation_token = true;
         config.position_prefix = 2;
         config.pooling = model::Pooling::first_two;
       },
       2}};
  for (const auto& [change, queries] : kinds) {
    model::Config config = model::tests::tiny_config();
    change(config);
    const model::VisionTransformer network = model::tests::random_weights(config);
    const at::Tensor pixels = at::randn({1, 3, 16, 20});
    const LastAttention last = last_attention(network, pixels);
    EXPECT_EQ(last.weights.sizes(),
              (std::vector<std::int64_t>{3, queries, 20 + config.prefix_tokens()}));
    expect_close(last.weights.sum(-1), at::ones({3, queries}), 1e-5);
    const at::Tensor real = probabilities_of(network)(pixels)[0];
    expect_close(last.answer(last.weights), real, 1e-5);
    EXPECT_GT((last.answer(last.weights.flip(-1)) - real).abs().max().item<double>(), 1e-4);
  }
}

TEST(LastAttention, LetsGradientsReachTheWeights) {
  const model::VisionTransformer network =
      model::tests::random_weights(model::tests::tiny_config());
  const LastAttention last = last_attention(network, at::randn({1, 3, 8, 12}));
  const at::Tensor weights = last.weights.detach().clone().requires_grad_(true);
  last.answer(weights)[2].backward();
  EXPECT_GT(weights.grad().abs().max().item<double>(), 0);
}

}  // namespace
}  // namespace vitascope::explain
