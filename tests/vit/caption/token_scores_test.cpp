#include "vit/caption/token_scores.h"

#include <ATen/ATen.h>
#include <gmock/gmock.h>

#include <cmath>
#include <limits>
#include <stdexcept>

#include "vit/random_numbers.h"

namespace vitascope::caption {
namespace {

using testing::ElementsAre;

constexpr float kNever = -std::numeric_limits<float>::infinity();

std::vector<std::int64_t> tokens_of(const TokenScores& scores, std::int64_t row, std::int64_t most,
                                    const std::vector<std::int64_t>& forbidden = {}) {
  std::vector<ScoredToken> best;
  find_best(scores.row(row), forbidden, most, best);
  std::vector<std::int64_t> tokens;
  tokens.reserve(best.size());
  for (const ScoredToken& token : best) tokens.push_back(token.token);
  return tokens;
}

TEST(FindBest, OrdersByScoreThenToken) {
  const TokenScores scores =
      TokenScores::all(at::tensor({-3.f, -1.f, -2.f, -1.f, -2.f}).view({1, 5}));
  EXPECT_THAT(tokens_of(scores, 0, 1), ElementsAre(1));
  EXPECT_THAT(tokens_of(scores, 0, 3), ElementsAre(1, 3, 2));
  EXPECT_THAT(tokens_of(scores, 0, 9), ElementsAre(1, 3, 2, 4, 0));
  EXPECT_THAT(tokens_of(scores, 0, 3, {1, 2}), ElementsAre(3, 4, 0));
}

TEST(FindBest, LeavesOutTheImpossible) {
  const TokenScores scores =
      TokenScores::all(at::tensor({kNever, -1.f, std::nanf(""), kNever}).view({1, 4}));
  EXPECT_THAT(tokens_of(scores, 0, 4), ElementsAre(1));
  EXPECT_TRUE(scores.has_nan());
}

TEST(FindBest, FindsWhatSortingFinds) {
  RandomNumbers random(1);
  at::Tensor values = at::empty({20, 300});
  float* value = values.mutable_data_ptr<float>();
  // Few different values, so that many are equal.
  for (std::int64_t i = 0; i < values.numel(); ++i)
    value[i] = -static_cast<float>(random.below(40));
  const TokenScores scores = TokenScores::all(values);
  const at::Tensor order = std::get<1>(values.sort(/*stable=*/true, 1, /*descending=*/true));
  for (std::int64_t row = 0; row < 20; ++row) {
    for (const std::int64_t most : {1, 6, 50, 300}) {
      const at::Tensor expected = order[row].narrow(0, 0, most).contiguous();
      const auto* begin = expected.const_data_ptr<std::int64_t>();
      EXPECT_EQ(tokens_of(scores, row, most), std::vector<std::int64_t>(begin, begin + most));
    }
  }
}

TEST(TokenScores, TheLikeliestAreEnough) {
  RandomNumbers random(2);
  at::Tensor values = at::empty({4, 100});
  float* value = values.mutable_data_ptr<float>();
  for (std::int64_t i = 0; i < values.numel(); ++i)
    value[i] = static_cast<float>(-random.uniform());
  const TokenScores few = TokenScores::likeliest(values, 8);
  EXPECT_EQ(few.row(0).count, 9) << "all were taken";
  EXPECT_EQ(few.vocabulary(), 100);
  for (std::int64_t row = 0; row < 4; ++row) {
    EXPECT_EQ(tokens_of(few, row, 8), tokens_of(TokenScores::all(values), row, 8));
  }
}

TEST(TokenScores, AmongEqualsTheLowerTokensAreFound) {
  at::Tensor values = at::full({3, 50}, -2.f);
  values[0][30] = -1;
  values[2].fill_(kNever);
  for (const std::int64_t most : {1, 2, 5, 49, 50, 60}) {
    const TokenScores scores = TokenScores::likeliest(values, most);
    for (std::int64_t row = 0; row < 3; ++row) {
      EXPECT_EQ(tokens_of(scores, row, most), tokens_of(TokenScores::all(values), row, most));
    }
  }
}

TEST(TokenScores, ImpossibleOnesAreNoEquals) {
  at::Tensor values = at::full({1, 50}, kNever);
  values[0][7] = -1;
  EXPECT_EQ(TokenScores::likeliest(values, 5).row(0).count, 6) << "all were taken";
}

TEST(TokenScores, RefusesAnotherShape) {
  EXPECT_THROW(TokenScores::of(at::zeros({2, 3}), 1, 1), std::invalid_argument);
  EXPECT_THROW(TokenScores::of(at::zeros({3}), 3, 1), std::invalid_argument);
}

TEST(TokenScores, TakesHalfTypes) {
  const TokenScores scores =
      TokenScores::of(at::tensor({-1.f, -.5f}).to(at::kBFloat16).view({1, 2}), 1, 1);
  EXPECT_THAT(tokens_of(scores, 0, 2), ElementsAre(1, 0));
}

}  // namespace
}  // namespace vitascope::caption
