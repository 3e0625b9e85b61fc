#include "datasets/sampling_order.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <map>
#include <numeric>
#include <set>

namespace vitascope::datasets {
namespace {

using testing::ElementsAre;

std::vector<std::pair<std::size_t, std::size_t>> pairs(const std::vector<Span>& spans) {
  std::vector<std::pair<std::size_t, std::size_t>> result;
  for (const Span& span : spans) result.emplace_back(span.begin, span.end);
  return result;
}

TEST(EpochOrder, IsAPermutationOfSeedAndEpoch) {
  std::vector<std::size_t> order = epoch_order(100, 1, 2);
  EXPECT_EQ(order, epoch_order(100, 1, 2));
  EXPECT_NE(order, epoch_order(100, 1, 3));
  EXPECT_NE(order, epoch_order(100, 2, 2));
  std::sort(order.begin(), order.end());
  std::vector<std::size_t> all(100);
  std::iota(all.begin(), all.end(), std::size_t{0});
  EXPECT_EQ(order, all);
}

TEST(Shares, OfOneProcessAreBatches) {
  EXPECT_THAT(pairs(shares(10, 0, 4, {})),
              ElementsAre(std::pair(0, 4), std::pair(4, 8), std::pair(8, 10)));
  EXPECT_THAT(pairs(shares(10, 8, 4, {})), ElementsAre(std::pair(8, 10)));
  EXPECT_THAT(shares(10, 10, 4, {}), testing::IsEmpty());
}

/// Whatever divides the work, a step sees the same pictures, each once.
TEST(Shares, OfSeveralProcessesMakeUpTheSameSteps) {
  for (const std::size_t count : {1u, 7u, 16u, 23u, 24u, 25u})
    for (const std::size_t processes : {1u, 2u, 3u, 4u, 6u}) {
      const auto whole = shares(count, 0, 12, {});
      for (std::size_t step = 0; step < whole.size(); ++step) {
        std::size_t at = whole[step].begin;
        for (std::size_t rank = 0; rank < processes; ++rank) {
          const auto mine = shares(count, 0, 12, {rank, processes});
          ASSERT_EQ(mine.size(), whole.size());
          EXPECT_EQ(mine[step].begin, at);
          EXPECT_LE(mine[step].end - mine[step].begin, 12 / processes);
          at = mine[step].end;
        }
        EXPECT_EQ(at, whole[step].end);
      }
    }
}

/// Eight pictures of one group, two and one of the others: in each epoch four of each group, but
/// for one, and of the small groups all before any comes again.
TEST(BalancedOrder, EveryGroupEquallyOften) {
  const std::vector<std::size_t> groups{0, 7, 0, 0, 2, 0, 0, 2, 0, 0, 0};
  const std::vector<Draw> draws = balanced_order(groups, 5, 1);
  ASSERT_EQ(draws.size(), groups.size());
  std::map<std::size_t, std::size_t> of_group;
  std::map<std::size_t, std::vector<std::uint64_t>> turns;
  for (const Draw& draw : draws) {
    ++of_group[groups[draw.index]];
    turns[draw.index].push_back(draw.turn);
  }
  for (const auto& [group, count] : of_group) EXPECT_THAT(count, testing::AnyOf(3u, 4u)) << group;
  for (const auto& [index, of_picture] : turns) {
    for (std::size_t i = 0; i < of_picture.size(); ++i) EXPECT_EQ(of_picture[i], i) << index;
  }
  EXPECT_NEAR(double(turns[4].size()), double(turns[7].size()), 1);
}

TEST(BalancedOrder, LargeGroupsShowOtherPicturesEachEpoch) {
  std::vector<std::size_t> groups(100, 0);
  groups[3] = 1;
  std::set<std::size_t> seen;
  for (std::uint64_t epoch = 0; epoch < 8; ++epoch) {
    for (const Draw& draw : balanced_order(groups, 1, epoch)) seen.insert(draw.index);
  }
  EXPECT_GT(seen.size(), 95u);
}

TEST(Dealt, EveryPositionOnceAndBatchesWhole) {
  EXPECT_THAT(dealt(11, 2, {0, 3}), testing::ElementsAre(0, 1, 6, 7));
  EXPECT_THAT(dealt(11, 2, {1, 3}), testing::ElementsAre(2, 3, 8, 9));
  EXPECT_THAT(dealt(11, 2, {2, 3}), testing::ElementsAre(4, 5, 10));
  EXPECT_THAT(dealt(3, 8, {1, 2}), testing::IsEmpty());
  for (const std::size_t count : {0u, 1u, 7u, 24u, 25u}) {
    for (const std::size_t processes : {1u, 2u, 5u, 30u}) {
      std::vector<std::size_t> all;
      for (std::size_t rank = 0; rank < processes; ++rank)
        std::ranges::copy(dealt(count, 3, {rank, processes}), std::back_inserter(all));
      std::ranges::sort(all);
      std::vector<std::size_t> expected(count);
      std::iota(expected.begin(), expected.end(), 0);
      EXPECT_EQ(all, expected) << count << " by " << processes;
    }
  }
}

}  // namespace
}  // namespace vitascope::datasets
