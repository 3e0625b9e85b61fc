#include "vit/random_numbers.h"

#include <gmock/gmock.h>

#include <cmath>
#include <set>
#include <stdexcept>

namespace vitascope {
namespace {

using testing::ElementsAre;

/// Mean and variance of 200,000 draws.
template <class Draw>
std::pair<double, double> moments(Draw draw) {
  constexpr int kDraws = 200000;
  double sum = 0;
  double squares = 0;
  for (int i = 0; i < kDraws; ++i) {
    const double x = draw();
    sum += x;
    squares += x * x;
  }
  const double mean = sum / kDraws;
  return {mean, squares / kDraws - mean * mean};
}

TEST(RandomNumbers, UniformFollowsTheEngineOfTheStandard) {
  // The standard gives the 10000th number of the engine seeded with 5489 (26.6.5).
  RandomNumbers random(5489);
  for (int i = 1; i < 10000; ++i) random.uniform();
  EXPECT_EQ(random.uniform(), static_cast<double>(9981545732273789042u >> 11) * 0x1p-53);
}

TEST(RandomNumbers, BelowAndPermutationReachEverything) {
  RandomNumbers random(1);
  std::set<std::int64_t> seen;
  for (int i = 0; i < 100; ++i) seen.insert(random.below(4));
  EXPECT_THAT(seen, ElementsAre(0, 1, 2, 3));
  EXPECT_THAT(random.permutation(5), testing::UnorderedElementsAre(0, 1, 2, 3, 4));
  EXPECT_NE(random.permutation(50), random.permutation(50));
}

TEST(RandomNumbers, NormalHasMeanZeroAndVarianceOne) {
  RandomNumbers random(2);
  const auto [mean, variance] = moments([&] { return random.normal(); });
  EXPECT_NEAR(mean, 0, .01);
  EXPECT_NEAR(variance, 1, .02);
}

TEST(RandomNumbers, BetaHasTheMomentsOfItsDistribution) {
  RandomNumbers random(3);
  for (const auto& [a, b] : {std::pair{.8, .8}, {.2, .2}, {1., 1.}, {2., 5.}, {.01, .01}}) {
    const auto [mean, variance] = moments([&] { return random.beta(a, b); });
    EXPECT_NEAR(mean, a / (a + b), .005) << a << ", " << b;
    EXPECT_NEAR(variance, a * b / ((a + b) * (a + b) * (a + b + 1)), .003) << a << ", " << b;
  }
}

TEST(RandomNumbers, TinyShapesGiveEndsAndNeverNothing) {
  RandomNumbers random(4);
  for (int i = 0; i < 1000; ++i) {
    const double share = random.beta(1e-6, 1e-6);
    EXPECT_TRUE(share >= 0 && share <= 1) << share;
  }
}

TEST(RandomNumbers, GoOnWhereTheirStateWasTaken) {
  RandomNumbers random(5);
  for (int i = 0; i < 1000; ++i) random.normal();
  const std::string state = random.state();
  RandomNumbers other(0);
  other.restore(state);
  EXPECT_EQ(other, random);
  for (int i = 0; i < 1000; ++i) EXPECT_EQ(other.uniform(), random.uniform());
}

TEST(RandomNumbers, RefusesWhatIsNoState) {
  RandomNumbers random(6);
  const RandomNumbers before = random;
  const std::string state = random.state();
  for (const std::string& wrong :
       {std::string(), std::string("1 2 3"), state + " 4", "x" + state, state.substr(0, 3000),
        state.substr(0, state.find_last_of(' ')) + " 1000000000", state + " "}) {
    EXPECT_THROW(random.restore(wrong), std::invalid_argument);
  }
  EXPECT_EQ(random, before);
}

TEST(CombinedSeed, DependsOnEachNumberAndItsPlace) {
  std::set<std::uint64_t> seeds{combined_seed({}), combined_seed({0}), combined_seed({0, 0})};
  for (std::uint64_t a = 0; a < 20; ++a) {
    for (std::uint64_t b = 0; b < 20; ++b) seeds.insert(combined_seed({a, b, 7}));
  }
  EXPECT_EQ(seeds.size(), 403);
  EXPECT_EQ(combined_seed({1, 2, 3}), combined_seed({1, 2, 3}));
}

}  // namespace
}  // namespace vitascope
