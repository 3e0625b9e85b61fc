#include "vit/caption/sampling.h"

#include <ATen/ATen.h>
#include <gmock/gmock.h>

#include <cmath>
#include <map>

#include "tests/vit/caption/table_decoder.h"
#include "vit/caption/beam_search.h"
#include "vit/error.h"

namespace vitascope::caption {
namespace {

using testing::ElementsAre;
using tests::Following;
using tests::table_of;
using tests::TableDecoder;

constexpr std::int64_t kDog = 4, kCat = 5, kRuns = 6;
constexpr std::int64_t kTokens = 7;

const Following kFollowing{{kStart, {{kDog, 0.6}, {kCat, 0.3}, {kRuns, 0.05}, {kUnknown, 0.05}}},
                           {kDog, {{kEnd, 0.5}, {kRuns, 0.5}}},
                           {kCat, {{kEnd, 0.5}, {kRuns, 0.5}}},
                           {kRuns, {{kEnd, 0.5}, {kRuns, 0.5}}}};

std::vector<RandomNumbers> generators(std::size_t count, std::uint64_t seed = 0) {
  std::vector<RandomNumbers> random;
  random.reserve(count);
  for (std::size_t i = 0; i < count; ++i) random.emplace_back(combined_seed({seed, i}));
  return random;
}

std::vector<Hypothesis> sampled(std::size_t count, const SamplingOptions& options,
                                const Following& following = kFollowing) {
  TableDecoder decoder(std::vector<at::Tensor>(count, table_of(following, kTokens)));
  std::vector<RandomNumbers> random = generators(count);
  return sample(decoder.next(), random, options);
}

/// Parts of the samples that begin with each token.
std::map<std::int64_t, double> first_tokens(const SamplingOptions& options) {
  constexpr std::size_t kCount = 4000;
  std::map<std::int64_t, double> parts;
  for (const Hypothesis& sentence : sampled(kCount, options)) {
    parts[sentence.tokens.at(0)] += 1.0 / kCount;
  }
  return parts;
}

constexpr double kFourErrors = 0.035;  ///< four standard errors of a part of 4000 samples, at most

TEST(Sample, DrawsByProbability) {
  const auto parts = first_tokens({});
  EXPECT_EQ(parts.size(), 3U) << "<unk> is not drawn";
  EXPECT_NEAR(parts.at(kDog), 0.6 / 0.95, kFourErrors);
  EXPECT_NEAR(parts.at(kCat), 0.3 / 0.95, kFourErrors);
  EXPECT_NEAR(parts.at(kRuns), 0.05 / 0.95, kFourErrors);
}

TEST(Sample, TemperatureSharpens) {
  const auto parts = first_tokens({.temperature = 0.5});
  const double total = 0.36 + 0.09 + 0.0025;
  EXPECT_NEAR(parts.at(kDog), 0.36 / total, kFourErrors);
  EXPECT_NEAR(parts.at(kCat), 0.09 / total, kFourErrors);
}

TEST(Sample, CutsToTheLikeliest) {
  const auto two = first_tokens({.top_k = 2});
  EXPECT_EQ(two.size(), 2U);
  EXPECT_NEAR(two.at(kDog), 2.0 / 3, kFourErrors);
  EXPECT_EQ(first_tokens({.top_k = 1}).size(), 1U);
}

TEST(Sample, CutsToTheNucleus) {
  EXPECT_EQ(first_tokens({.top_p = 0.5}).size(), 1U);
  const auto two = first_tokens({.top_p = 0.7});
  EXPECT_EQ(two.size(), 2U);
  EXPECT_NEAR(two.at(kDog), 2.0 / 3, kFourErrors);
  EXPECT_EQ(first_tokens({.top_p = 0.99}).size(), 3U);
}

TEST(Sample, RecordsTheDecodersOwnProbabilities) {
  for (const Hypothesis& sentence : sampled(20, {.temperature = 0.3, .alpha = 1})) {
    std::int64_t before = kStart;
    double sum = 0;
    for (std::size_t i = 0; i < sentence.tokens.size(); ++i) {
      const double expected = std::log(kFollowing.at(before).at(sentence.tokens[i]));
      EXPECT_NEAR(sentence.log_probs[i], expected, 1e-6);
      sum += expected;
      before = sentence.tokens[i];
    }
    EXPECT_NEAR(sentence.log_prob, sum, 1e-5);
    EXPECT_NEAR(sentence.score, sum / static_cast<double>(sentence.tokens.size()), 1e-5);
    EXPECT_EQ(sentence.finished, before == kEnd);
  }
}

TEST(Sample, DependsOnItsOwnGeneratorAlone) {
  const auto many = sampled(9, {});
  const auto few = sampled(4, {});
  for (std::size_t i = 0; i < few.size(); ++i) EXPECT_EQ(many[i].tokens, few[i].tokens);
}

TEST(Sample, KeepsTheRules) {
  const SentenceRules rules{.longest = 4, .shortest = 2, .no_repeat = 1};
  for (const Hypothesis& sentence : sampled(200, {.rules = rules})) {
    EXPECT_LE(sentence.tokens.size(), 4U);
    // Only "runs" leaves no choice but to end: it can't follow itself, and nothing else follows it.
    if (sentence.tokens[0] == kRuns) continue;
    EXPECT_THAT(sentence.tokens, ElementsAre(testing::AnyOf(kDog, kCat), kRuns, kEnd));
  }
  for (const Hypothesis& sentence : sampled(50, {.rules = {.longest = 3, .shortest = 0}},
                                            {{kStart, {{kRuns, 1}}}, {kRuns, {{kRuns, 1}}}})) {
    EXPECT_THAT(sentence.tokens, ElementsAre(kRuns, kRuns, kRuns));
    EXPECT_FALSE(sentence.finished);
  }
}

TEST(Sample, ACertainDecoderIsSampledAsItIsSearched) {
  const Following certain{{kStart, {{kCat, 1}}}, {kCat, {{kRuns, 1}}}, {kRuns, {{kEnd, 1}}}};
  TableDecoder decoder({table_of(certain, kTokens)});
  const auto searched = beam_search(decoder.next(), 1, {}).at(0).at(0);
  for (const Hypothesis& sentence : sampled(3, {}, certain)) {
    EXPECT_EQ(sentence.tokens, searched.tokens);
    EXPECT_EQ(sentence.score, searched.score);
  }
}

TEST(Sample, RefusesOptionsThatMakeNoSense) {
  EXPECT_THROW(sampled(1, {.temperature = 0}), UsageError);
  EXPECT_THROW(sampled(1, {.temperature = std::nan("")}), UsageError);
  EXPECT_THROW(sampled(1, {.top_k = -1}), UsageError);
  EXPECT_THROW(sampled(1, {.top_p = 0}), UsageError);
  EXPECT_THROW(sampled(1, {.top_p = 1.5}), UsageError);
  EXPECT_THROW(sampled(1, {.rules = {.longest = 0}}), UsageError);
  EXPECT_THROW(sampled(1, {}, {}), FailureError);
}

}  // namespace
}  // namespace vitascope::caption
