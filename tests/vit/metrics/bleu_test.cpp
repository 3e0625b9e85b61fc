#include "vit/metrics/bleu.h"

#include <gmock/gmock.h>

#include "tests/vit/metrics/golden_captions.h"

namespace vitascope::metrics {
namespace {

class GoldenBleu : public testing::TestWithParam<const char*> {};

void expect_figures(const Bleu& actual, const Json& expected) {
  for (std::size_t n = 0; n < kLongestNgram; ++n)
    EXPECT_NEAR(actual[n], expected.at(n).get<double>(), tests::kFigure) << "BLEU-" << n + 1;
}

void expect_counts(const BleuCounts& counts, const Json& expected) {
  EXPECT_EQ(Json(counts.matches), expected.at("matches"));
  EXPECT_EQ(Json(counts.totals), expected.at("totals"));
  EXPECT_EQ(counts.candidate_length, expected.at("candidate_length"));
  EXPECT_EQ(counts.reference_length, expected.at("closest_reference_length"));
  expect_figures(bleu(counts), expected.at("bleu"));
  expect_figures(bleu_unsmoothed(counts), expected.at("bleu_unsmoothed"));
}

TEST_P(GoldenBleu, OfEachCaptionAndOfAll) {
  const tests::GoldenCorpus corpus = tests::golden_corpus(GetParam());
  BleuCounts sum;
  for (std::size_t i = 0; i < corpus.candidates.size(); ++i) {
    SCOPED_TRACE(corpus.expected.at("ids")[i]);
    const BleuCounts counts = bleu_counts(corpus.candidates[i], corpus.references[i]);
    expect_counts(counts, corpus.expected.at("per_image")[i]);
    sum += counts;
  }
  expect_counts(sum, corpus.expected.at("corpus"));
}

INSTANTIATE_TEST_SUITE_P(Corpora, GoldenBleu,
                         testing::Values("all", "single_image", "perfect", "without_edge_cases"));

TEST(Bleu, ReferencesWithoutAWord) {
  const BleuCounts counts = bleu_counts({1, 2}, std::vector<Sentence>{{}});
  EXPECT_EQ(counts.reference_length, 0);
  EXPECT_EQ(bleu_unsmoothed(counts), Bleu{});
}

TEST(Bleu, WithoutReferencesIsRefused) {
  EXPECT_THROW(bleu_counts({1}, {}), std::invalid_argument);
}

}  // namespace
}  // namespace vitascope::metrics
