#include "kernels/attention.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include "tests/kernels/largest_difference.h"

namespace vitascope::kernels {
namespace {

using tests::largest_difference;

/// The formula in float64: softmax(scale * q k^T) v as [B, N, H * D].
at::Tensor exact(const at::Tensor& q, const at::Tensor& k, const at::Tensor& v, double scale) {
  const at::Tensor scores =
      at::matmul(q.to(at::kDouble), k.to(at::kDouble).transpose(-2, -1)) * scale;
  const at::Tensor shifted = at::exp(scores - scores.amax(-1, true));
  const at::Tensor out = at::matmul(shifted / shifted.sum(-1, true), v.to(at::kDouble));
  return out.transpose(1, 2).reshape({q.size(0), q.size(2), -1});
}

/// q, k and v as views of one packed projection [B, N, 3, H, D], as the model makes them.
std::array<at::Tensor, 3> packed(int batch, int heads, int tokens, int width) {
  at::manual_seed(7);
  const at::Tensor all = at::randn({batch, tokens, 3, heads, width}).permute({2, 0, 3, 1, 4});
  return {all[0], all[1], all[2]};
}

class EveryBackend : public testing::TestWithParam<Backend> {};

TEST_P(EveryBackend, AgreesWithTheFormulaOnAPackedProjection) {
  for (const int tokens : {1, 2, 33, 197}) {
    const auto [q, k, v] = packed(2, 3, tokens, 16);
    const at::Tensor out = attention(q, k, v, {.backend = GetParam()}).out;
    ASSERT_EQ(out.sizes(), (std::vector<std::int64_t>{2, tokens, 48}));
    EXPECT_LT(largest_difference(out, exact(q, k, v, 0.25)), 2e-6) << tokens << " tokens";
  }
}

TEST_P(EveryBackend, TakesAScaleAndKeysOfAnotherLength) {
  at::manual_seed(1);
  const at::Tensor q = at::randn({1, 2, 5, 8});
  const at::Tensor k = at::randn({1, 2, 11, 8});
  const at::Tensor v = at::randn({1, 2, 11, 8});
  const at::Tensor out = attention(q, k, v, {.scale = 0.7, .backend = GetParam()}).out;
  EXPECT_LT(largest_difference(out, exact(q, k, v, 0.7)), 2e-6);
}

TEST_P(EveryBackend, KeepsHalfPrecisionAndAccumulatesInFloat) {
  const auto [q, k, v] = packed(1, 2, 50, 32);
  const at::Tensor out = attention(q.to(at::kBFloat16), k.to(at::kBFloat16), v.to(at::kBFloat16),
                                   {.backend = GetParam()})
                             .out;
  EXPECT_EQ(out.scalar_type(), at::kBFloat16);
  const at::Tensor rounded =
      exact(q.to(at::kBFloat16), k.to(at::kBFloat16), v.to(at::kBFloat16), 1.0 / std::sqrt(32.0));
  // One bfloat16 step at the size of the outputs (below 2) is 2^-8 * 2.
  EXPECT_LT(largest_difference(out, rounded), 0.0079);
}

TEST_P(EveryBackend, SurvivesScoresFarBeyondExp) {
  const auto [q, k, v] = packed(1, 1, 17, 16);
  const at::Tensor out = attention(q * 300, k * 300, v, {.backend = GetParam()}).out;
  EXPECT_TRUE(out.isfinite().all().item<bool>());
  EXPECT_LT(largest_difference(out, exact(q * 300, k * 300, v, 0.25)), 1e-4);
}

INSTANTIATE_TEST_SUITE_P(Attention, EveryBackend,
                         testing::Values(Backend::automatic, Backend::fused, Backend::sdpa,
                                         Backend::math),
                         [](const auto& info) { return std::string(backend_name(info.param)); });

TEST(AttentionMap, RowsAreProbabilitiesThatGiveTheOutput) {
  const auto [q, k, v] = packed(2, 3, 21, 16);
  const at::Tensor map = attention_map(q, k, attention(q, k, v).lse);
  EXPECT_LT(largest_difference(map.sum(-1), at::ones({2, 3, 21})), 1e-6);
  const at::Tensor out = at::matmul(map, v).transpose(1, 2).reshape({2, 21, 48});
  EXPECT_LT(largest_difference(out, exact(q, k, v, 0.25)), 2e-6);
}

TEST(Attention, RefusesShapesThatDoNotFit) {
  const at::Tensor q = at::zeros({1, 2, 3, 4});
  EXPECT_THROW(attention(q, at::zeros({1, 2, 3, 5}), at::zeros({1, 2, 3, 5})), c10::Error);
  EXPECT_THROW(attention(q, at::zeros({1, 2, 3, 4}), at::zeros({1, 2, 4, 4})), c10::Error);
  EXPECT_THROW(attention(q[0], q[0], q[0]), c10::Error);
}

TEST(Backend, NamesGoBothWays) {
  for (const Backend backend : {Backend::automatic, Backend::fused, Backend::sdpa, Backend::math}) {
    EXPECT_EQ(parse_backend(backend_name(backend)), backend);
  }
  EXPECT_THROW(parse_backend("flash"), std::invalid_argument);
}

TEST(Backend, AutoIsFusedAndSaysWhyNot) {
  EXPECT_EQ(choose_backend(at::zeros({1, 1, 1, 1}), {}).backend, Backend::fused);
  const at::Tensor q = at::zeros({1, 1, 1, 1}, at::kDouble);
  const BackendChoice choice = choose_backend(q, {});
  EXPECT_EQ(choice.backend, Backend::sdpa);
  EXPECT_NE(choice.reason.find("not Double"), std::string::npos) << choice.reason;
  AttentionOptions options;
  options.dropout = 0.5;
  EXPECT_EQ(choose_backend(q, options).backend, Backend::math);
  options.backend = Backend::fused;
  EXPECT_THROW(choose_backend(q, options), c10::Error);
}

}  // namespace
}  // namespace vitascope::kernels
