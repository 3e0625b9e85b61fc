#include "vit/metrics/captions.h"

#include <gmock/gmock.h>

#include "tests/vit/metrics/golden_captions.h"

namespace vitascope::metrics {
namespace {

TEST(ScoreCaptions, OfTheGoldenCorpus) {
  const tests::GoldenCorpus golden = tests::golden_corpus("all");
  const CaptionReport report = score_captions(golden.candidates, golden.references);
  const Json& expected = golden.expected.at("corpus");
  EXPECT_EQ(Json(report.corpus.counts.matches), expected.at("matches"));
  EXPECT_NEAR(report.corpus.rouge_l, expected.at("rouge_l").get<double>(), tests::kFigure);
  ASSERT_TRUE(report.corpus.cider_d);
  EXPECT_NEAR(*report.corpus.cider_d, expected.at("cider_d").get<double>(), tests::kFigure);
  ASSERT_EQ(report.images.size(), golden.candidates.size());
  for (std::size_t i = 0; i < report.images.size(); ++i)
    EXPECT_NEAR(report.images[i].cider_d.value(),
                golden.expected.at("per_image")[i].at("cider_d").get<double>(), tests::kFigure);
}

TEST(ScoreCaptions, OfTooFewImagesHaveNoCider) {
  const tests::GoldenCorpus few = tests::golden_corpus("without_edge_cases");
  ASSERT_LT(std::ssize(few.references), kLeastCiderImages);
  const CaptionReport report = score_captions(few.candidates, few.references);
  EXPECT_FALSE(report.corpus.cider_d);
  EXPECT_FALSE(report.images.front().cider_d);
  EXPECT_NEAR(report.corpus.rouge_l, few.expected.at("corpus").at("rouge_l").get<double>(),
              tests::kFigure);
}

TEST(ScoreCaptions, TakeTheFrequenciesOfAnotherSet) {
  const tests::GoldenCorpus all = tests::golden_corpus("all");
  const DocumentFrequencies frequencies(all.references);
  const CaptionReport report =
      score_captions({all.candidates.data(), 1}, {all.references.data(), 1}, &frequencies);
  EXPECT_NEAR(report.corpus.cider_d.value(),
              all.expected.at("per_image")[0].at("cider_d").get<double>(), tests::kFigure);
}

TEST(ScoreCaptions, WhatDoesNotFitTogetherIsRefused) {
  const tests::GoldenCorpus all = tests::golden_corpus("all");
  EXPECT_THROW(score_captions({}, {}), std::invalid_argument);
  EXPECT_THROW(score_captions(all.candidates, {all.references.data(), 1}), std::invalid_argument);
}

}  // namespace
}  // namespace vitascope::metrics
