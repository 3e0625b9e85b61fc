#include "vit/image/random_stream.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <vector>

namespace vitascope::image {
namespace {

/// The first numbers of java.util.SplittableRandom's generator with seed 1234567, as its authors'
/// C code gives them.
TEST(RandomStream, IsSplitMix64) {
  RandomStream random(1234567);
  for (const std::uint64_t expected :
       {6457827717110365317u, 3203168211198807973u, 9817491932198370423u, 4593380528125082431u,
        16408922859458223821u})
    EXPECT_EQ(random.bits(), expected);
}

TEST(RandomStream, SamplesEpochsAndSeedsHaveTheirOwn) {
  std::set<std::uint64_t> states;
  for (std::uint64_t seed = 0; seed < 10; ++seed)
    for (std::uint64_t epoch = 0; epoch < 10; ++epoch)
      for (std::uint64_t sample = 0; sample < 10; ++sample)
        states.insert(RandomStream::of(seed, epoch, sample).state());
  EXPECT_EQ(states.size(), 1000u);
}

TEST(RandomStream, GoesOnFromItsState) {
  RandomStream random(5);
  random.uniform();
  RandomStream resumed(random.state());
  EXPECT_EQ(resumed.bits(), random.bits());
}

TEST(RandomStream, DistributionsHaveTheirMoments) {
  RandomStream random(3);
  double sum = 0, normal = 0, squares = 0;
  constexpr int kCount = 100000;
  for (int i = 0; i < kCount; ++i) {
    const double u = random.uniform(2, 4);
    ASSERT_GE(u, 2);
    ASSERT_LT(u, 4);
    sum += u;
    const double z = random.normal();
    normal += z;
    squares += z * z;
  }
  EXPECT_NEAR(sum / kCount, 3, 0.01);
  EXPECT_NEAR(normal / kCount, 0, 0.02);
  EXPECT_NEAR(squares / kCount, 1, 0.02);
}

TEST(RandomStream, ShufflesEvenly) {
  std::vector<int> first(4);
  for (std::uint64_t sample = 0; sample < 4000; ++sample) {
    std::vector<int> order{0, 1, 2, 3};
    RandomStream random = RandomStream::of(9, 9, sample);
    random.shuffle(order);
    ++first[order[0]];
    std::sort(order.begin(), order.end());
    EXPECT_EQ(order, (std::vector<int>{0, 1, 2, 3}));
  }
  for (const int count : first) EXPECT_NEAR(count, 1000, 120);
}

}  // namespace
}  // namespace vitascope::image
