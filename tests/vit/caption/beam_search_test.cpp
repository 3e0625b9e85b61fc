#include "vit/caption/beam_search.h"

#include <ATen/ATen.h>
#include <gmock/gmock.h>

#include <cstring>
#include <stdexcept>

#include "tests/golden.h"
#include "tests/vit/caption/table_decoder.h"
#include "vit/error.h"
#include "vit/json.h"
#include "vit/weights/safetensors.h"

namespace vitascope::caption {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using tests::Following;
using tests::table_of;
using tests::TableDecoder;
using Tokens = std::vector<std::int64_t>;

/// Tables and expected sentences of tests/golden/beam_search.
class Golden : public testing::Test {
 protected:
  Golden()
      : json_(read_json(vitascope::tests::golden("beam_search/beam.json"))),
        stored_(
            weights::read_safetensors(vitascope::tests::golden("beam_search/tables.safetensors"))) {
  }

  at::Tensor table(const Json& entry) const {
    const auto& stored = stored_.tensors.at("log_probs." + entry["table"].get<std::string>());
    at::Tensor tensor = at::empty(stored.shape, at::kFloat);
    std::memcpy(tensor.mutable_data_ptr(), stored.bytes.data(), stored.bytes.size());
    return tensor;
  }

  BeamOptions options(const Json& run, std::int64_t steps) const {
    return {.beam = run["k"],
            .results = run["k"],
            .alpha = run["alpha"],
            .finish = run["finish_rule"] == "keep" ? FinishRule::keep : FinishRule::shrink,
            .rules = {.longest = steps, .shortest = 0},
            .special = {.start = json_["start"], .end = json_["end"], .pad = {}, .unknown = {}}};
  }

  Json json_;
  weights::StoredTensors stored_;
};

void expect_sentences(const std::vector<Hypothesis>& got, const Json& expected) {
  ASSERT_EQ(got.size(), expected.size());
  for (std::size_t i = 0; i < got.size(); ++i) {
    EXPECT_EQ(got[i].tokens, expected[i]["tokens"].get<Tokens>());
    EXPECT_NEAR(got[i].log_prob, expected[i]["log_prob"].get<double>(), 1e-6);
    EXPECT_NEAR(got[i].score, expected[i]["score"].get<double>(), 1e-6);
    EXPECT_EQ(got[i].finished, expected[i]["finished"].get<bool>());
  }
}

TEST_F(Golden, SentencesAndBeamsOfEveryStep) {
  std::size_t runs = 0;
  for (const Json& entry : json_["tables"]) {
    for (const Json& run : entry["runs"]) {
      SCOPED_TRACE(entry["table"].get<std::string>() + " " + run.dump().substr(0, 60));
      TableDecoder decoder({table(entry)});
      const auto found = beam_search(decoder.next(), 1, options(run, entry["T"]));
      ASSERT_EQ(found.size(), 1U);
      expect_sentences(found[0], run["hypotheses"]);
      const Json& live = run["live_after_step"];
      ASSERT_EQ(decoder.calls().size(), live.size());
      for (std::size_t step = 0; step + 1 < live.size(); ++step) {
        EXPECT_EQ(decoder.calls()[step + 1], live[step].get<TableDecoder::Sentences>());
      }
      ++runs;
    }
  }
  EXPECT_EQ(runs, 36U);
}

TEST_F(Golden, PhotosSideBySideFindWhatTheyFindAlone) {
  const Json& tables = json_["tables"];
  std::vector<at::Tensor> several;
  for (const Json& entry : tables) several.push_back(table(entry));
  for (std::size_t run = 0; run < tables[0]["runs"].size(); ++run) {
    TableDecoder decoder(several);
    const auto found = beam_search(decoder.next(), std::ssize(several),
                                   options(tables[0]["runs"][run], tables[0]["T"]));
    ASSERT_EQ(found.size(), several.size());
    for (std::size_t i = 0; i < several.size(); ++i) {
      expect_sentences(found[i], tables[i]["runs"][run]["hypotheses"]);
    }
  }
}

constexpr std::int64_t kDog = 4, kCat = 5, kRuns = 6;

/// What beam search finds where the next token depends on the last one only.
std::vector<Hypothesis> found(const Following& following, const BeamOptions& options,
                              std::int64_t vocabulary = 7) {
  TableDecoder decoder({table_of(following, vocabulary)});
  return beam_search(decoder.next(), 1, options).at(0);
}

Tokens best(const Following& following, const BeamOptions& options) {
  return found(following, options).at(0).tokens;
}

const Following kShortOrLong{{kStart, {{kDog, 0.5}, {kEnd, 0.4}}},
                             {kDog, {{kRuns, 0.9}, {kEnd, 0.1}}},
                             {kRuns, {{kEnd, 0.9}, {kDog, 0.1}}}};

TEST(BeamSearch, NormalisesByLength) {
  const SentenceRules any{.shortest = 0};
  EXPECT_THAT(best(kShortOrLong, {.alpha = 0, .rules = {.shortest = 1}}),
              ElementsAre(kDog, kRuns, kEnd));
  // 0.405 against 0.4, then divided by 3 and by 1.
  EXPECT_THAT(
      best({{kStart, {{kDog, 0.5}, {kEnd, 0.45}}}, {kDog, {{kRuns, 0.9}}}, {kRuns, {{kEnd, 0.9}}}},
           {.alpha = 0, .rules = any}),
      ElementsAre(kEnd));
  EXPECT_THAT(
      best({{kStart, {{kDog, 0.5}, {kEnd, 0.45}}}, {kDog, {{kRuns, 0.9}}}, {kRuns, {{kEnd, 0.9}}}},
           {.alpha = 1, .rules = any}),
      ElementsAre(kDog, kRuns, kEnd));
}

TEST(BeamSearch, KeepsTheLeastLength) {
  const Following ends_early{{kStart, {{kDog, 0.6}, {kCat, 0.4}}},
                             {kDog, {{kEnd, 0.9}, {kRuns, 0.1}}},
                             {kCat, {{kEnd, 0.9}, {kRuns, 0.1}}},
                             {kRuns, {{kEnd, 1}}}};
  EXPECT_THAT(best(ends_early, {}), ElementsAre(kDog, kEnd));
  EXPECT_THAT(best(ends_early, {.rules = {.shortest = 2}}), ElementsAre(kDog, kRuns, kEnd));
}

TEST(BeamSearch, EndsEarlyWhereNothingElseIsPossible) {
  const Following only_end{{kStart, {{kDog, 1}}}, {kDog, {{kEnd, 1}}}};
  EXPECT_THAT(best(only_end, {.rules = {.shortest = 5}}), ElementsAre(kDog, kEnd));
}

TEST(BeamSearch, AnEmptyAnswerIsNotTheDefault) {
  EXPECT_THAT(best({{kStart, {{kEnd, 0.99}, {kDog, 0.01}}}, {kDog, {{kEnd, 1}}}}, {.alpha = 0}),
              ElementsAre(kDog, kEnd));
}

TEST(BeamSearch, UnknownComesOnlyWhenNothingElseDoes) {
  const Following likely{{kStart, {{kUnknown, 0.9}, {kDog, 0.1}}},
                         {kDog, {{kEnd, 0.5}, {kUnknown, 0.5}}},
                         {kUnknown, {{kEnd, 1}}}};
  for (const std::int64_t beam : {1, 2, 3}) {
    for (const Hypothesis& sentence : found(likely, {.beam = beam, .results = beam})) {
      EXPECT_THAT(sentence.tokens, ElementsAre(kDog, kEnd));
    }
  }
  const Following only{{kStart, {{kUnknown, 1}}}, {kUnknown, {{kEnd, 1}}}};
  EXPECT_THAT(best(only, {}), ElementsAre(kUnknown, kEnd));
}

TEST(BeamSearch, NeverProducesStartAndPad) {
  EXPECT_THAT(best({{kStart, {{kPad, 0.5}, {kStart, 0.4}, {kDog, 0.1}}}, {kDog, {{kEnd, 1}}}}, {}),
              ElementsAre(kDog, kEnd));
}

TEST(BeamSearch, GuardsAgainstRepetition) {
  const Following stutter{{kStart, {{kDog, 1}}},
                          {kDog, {{kCat, 0.9}, {kRuns, 0.1}}},
                          {kCat, {{kDog, 0.9}, {kEnd, 0.1}}},
                          {kRuns, {{kEnd, 1}}}};
  const auto guarded = [&](std::int64_t no_repeat) {
    return best(stutter,
                {.beam = 1, .rules = {.longest = 9, .shortest = 1, .no_repeat = no_repeat}});
  };
  EXPECT_THAT(guarded(0), ElementsAre(kDog, kCat, kDog, kCat, kDog, kCat, kDog, kCat, kDog));
  EXPECT_THAT(guarded(3), ElementsAre(kDog, kCat, kDog, kCat, kEnd));
  EXPECT_THAT(guarded(2), ElementsAre(kDog, kCat, kDog, kRuns, kEnd));
  EXPECT_THAT(guarded(1), ElementsAre(kDog, kCat, kEnd));
}

TEST(BeamSearch, SaysWhereEachTokenCameFrom) {
  const Following following{{kStart, {{kDog, 0.6}, {kCat, 0.4}}},
                            {kDog, {{kRuns, 0.5}, {kDog, 0.5}}},
                            {kCat, {{kRuns, 1}}},
                            {kRuns, {{kEnd, 1}}}};
  const auto sentences = found(following, {.beam = 2, .results = 2, .alpha = 0});
  ASSERT_EQ(sentences.size(), 2U);
  EXPECT_THAT(sentences[0].tokens, ElementsAre(kCat, kRuns, kEnd));
  EXPECT_THAT(sentences[0].rows, ElementsAre(0, 1, 0));
  EXPECT_EQ(sentences[0].log_probs[0], static_cast<float>(std::log(0.4)));
  EXPECT_EQ(sentences[0].log_probs[1], 0);
  EXPECT_NEAR(sentences[0].log_prob, std::log(0.4), 1e-6);
}

std::string usage_error(const BeamOptions& options) {
  try {
    found(kShortOrLong, options);
  } catch (const UsageError& error) {
    return error.what();
  }
  return "";
}

TEST(BeamSearch, RefusesOptionsThatMakeNoSense) {
  EXPECT_THAT(usage_error({.beam = 0}), HasSubstr("a beam of 0"));
  EXPECT_THAT(usage_error({.beam = 2, .results = 3}), HasSubstr("expected 1 to 2"));
  EXPECT_THAT(usage_error({.alpha = -1}), HasSubstr("the power of -1"));
  EXPECT_THAT(usage_error({.rules = {.longest = 0}}), HasSubstr("at most 0 tokens"));
  EXPECT_THAT(usage_error({.rules = {.longest = 5, .shortest = 5}}), HasSubstr("expected 0 to 4"));
  EXPECT_THAT(usage_error({.rules = {.no_repeat = -1}}), HasSubstr("repetition of -1"));
  EXPECT_EQ(usage_error({.beam = 4}), "");
  EXPECT_THAT(usage_error({.beam = 5}), HasSubstr("wider than the vocabulary, of which 4 tokens"));
}

TEST(BeamSearch, SaysWhenTheDecoderIsBroken) {
  EXPECT_THROW(found({}, {}), FailureError);
  const auto nan = [](at::IntArrayRef tokens, at::IntArrayRef) {
    return at::full({std::ssize(tokens), 7}, std::nan(""));
  };
  EXPECT_THROW(beam_search(nan, 1, {}), FailureError);
  const auto too_few = [](at::IntArrayRef, at::IntArrayRef) { return at::zeros({1, 7}); };
  EXPECT_THROW(beam_search(too_few, 2, {}), std::invalid_argument);
}

TEST(BeamSearch, AnUnfinishedSentenceIsBetterThanNone) {
  const Following dead_end{{kStart, {{kDog, 1}}}, {kDog, {{kRuns, 1}}}};
  const auto sentences = found(dead_end, {.results = 3});
  ASSERT_EQ(sentences.size(), 1U);
  EXPECT_THAT(sentences[0].tokens, ElementsAre(kDog, kRuns));
  EXPECT_FALSE(sentences[0].finished);
}

TEST(BeamSearch, NoPhotosAreNoCalls) {
  const auto never = [](at::IntArrayRef, at::IntArrayRef) -> at::Tensor {
    throw std::logic_error("called");
  };
  EXPECT_TRUE(beam_search(never, 0, {}).empty());
}

}  // namespace
}  // namespace vitascope::caption
