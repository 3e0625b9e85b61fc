#include "vit/train/nearest_neighbours.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <stdexcept>

#include "tests/vit/train/golden_training.h"
#include "tests/vit/train/random_tensors.h"
#include "vit/error.h"

namespace vitascope::train {
namespace {

using tests::normal_tensor;

LabelledNeighbours random_neighbours(std::int64_t count, bool several) {
  const at::Tensor targets =
      several ? (normal_tensor({count, 3}, 3) > 0).to(at::kFloat)
              : at::one_hot(at::arange(count, at::kLong).remainder(3), 3).to(at::kFloat);
  return {normal_tensor({count, 5}, 2), targets};
}

/// The shares for one query by the definition, in double and with loops.
std::vector<double> votes_of(const LabelledNeighbours& neighbours, const at::Tensor& query,
                             std::size_t k, double temperature) {
  const auto count = static_cast<std::size_t>(neighbours.features.size(0));
  std::vector<double> cosines(count);
  for (std::size_t i = 0; i < count; ++i) {
    double product = 0, left = 0, right = 0;
    for (std::int64_t f = 0; f < query.numel(); ++f) {
      const double a = query[f].item<double>();
      const double b = neighbours.features[static_cast<std::int64_t>(i)][f].item<double>();
      product += a * b;
      left += a * a;
      right += b * b;
    }
    cosines[i] = product / std::sqrt(left * right);
  }
  std::vector<std::size_t> order(count);
  std::iota(order.begin(), order.end(), 0);
  std::sort(order.begin(), order.end(),
            [&](std::size_t a, std::size_t b) { return cosines[a] > cosines[b]; });
  std::vector<double> votes(3, 0);
  double total = 0;
  for (std::size_t i = 0; i < std::min(k, count); ++i) {
    const double voice = std::exp(cosines[order[i]] / temperature);
    total += voice;
    for (std::size_t c = 0; c < 3; ++c) {
      votes[c] +=
          voice *
          neighbours.targets[static_cast<std::int64_t>(order[i])][static_cast<std::int64_t>(c)]
              .item<double>();
    }
  }
  for (double& vote : votes) vote /= total;
  return votes;
}

TEST(NearestNeighbours, VoteByTheDefinition) {
  const at::Tensor queries = normal_tensor({4, 5}, 9);
  const std::vector<std::int64_t> ks{7, 1, 100};
  for (const bool several : {false, true}) {
    const LabelledNeighbours neighbours = random_neighbours(20, several);
    for (const double temperature : {0.07, 1.0}) {
      const auto votes = neighbour_votes(neighbours, queries, ks, temperature);
      ASSERT_EQ(votes.size(), ks.size());
      for (std::size_t i = 0; i < ks.size(); ++i) {
        for (std::int64_t q = 0; q < 4; ++q) {
          const auto expected =
              votes_of(neighbours, queries[q], static_cast<std::size_t>(ks[i]), temperature);
          EXPECT_LE(tests::relative_error(votes[i][q], at::tensor(expected, at::kDouble)), 1e-5);
        }
      }
    }
  }
}

TEST(NearestNeighbours, LengthOfFeaturesDoesNotMatter) {
  const LabelledNeighbours neighbours = random_neighbours(20, false);
  const at::Tensor queries = normal_tensor({4, 5}, 9);
  const std::vector<std::int64_t> ks{5};
  const at::Tensor votes = neighbour_votes(neighbours, queries, ks)[0];
  const at::Tensor lengths = at::arange(1, 21, at::kFloat).unsqueeze(1);
  const at::Tensor scaled =
      neighbour_votes({neighbours.features * lengths, neighbours.targets}, queries * 1e4, ks)[0];
  EXPECT_LE(tests::relative_error(scaled, votes), 1e-5);
}

TEST(NearestNeighbours, LowTemperatureLeavesTheNearestAlone) {
  const LabelledNeighbours neighbours = random_neighbours(20, false);
  const at::Tensor votes =
      neighbour_votes(neighbours, neighbours.features, std::vector<std::int64_t>{20}, 1e-4)[0];
  EXPECT_LE(tests::relative_error(votes, neighbours.targets), 1e-6) << "no overflow";
}

TEST(NearestNeighbours, ManyQueriesAreTakenInParts) {
  // 2^25 similarities at a time: 900 queries of these.
  LabelledNeighbours neighbours = random_neighbours(36000, false);
  neighbours.features = neighbours.features.slice(1, 0, 2).contiguous();
  const at::Tensor queries = normal_tensor({1000, 2}, 5);
  const std::vector<std::int64_t> ks{3};
  const at::Tensor together = neighbour_votes(neighbours, queries, ks)[0];
  const at::Tensor last = neighbour_votes(neighbours, queries.slice(0, 950), ks)[0];
  EXPECT_LE(tests::relative_error(together.slice(0, 950), last), 1e-5);
}

TEST(NearestNeighbours, RefusesWhatMakesNoSense) {
  const LabelledNeighbours neighbours = random_neighbours(20, false);
  const std::vector<std::int64_t> one{1}, none{0};
  EXPECT_THROW(neighbour_votes(neighbours, neighbours.features, none), UsageError);
  EXPECT_THROW(neighbour_votes(neighbours, neighbours.features, one, 0), UsageError);
  EXPECT_THROW(neighbour_votes(neighbours, normal_tensor({2, 4}, 1), one), std::invalid_argument);
  EXPECT_THROW(neighbour_votes({neighbours.features.slice(0, 0, 0), neighbours.targets},
                               neighbours.features, one),
               std::invalid_argument);
}

}  // namespace
}  // namespace vitascope::train
