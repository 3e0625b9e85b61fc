#include "vit/metrics/cider.h"

#include <gmock/gmock.h>

#include <cmath>

#include "tests/vit/metrics/golden_captions.h"

namespace vitascope::metrics {
namespace {

class GoldenCider : public testing::TestWithParam<const char*> {};

TEST_P(GoldenCider, OfEachCaption) {
  const tests::GoldenCorpus corpus = tests::golden_corpus(GetParam());
  const DocumentFrequencies frequencies(corpus.references);
  for (std::size_t i = 0; i < corpus.candidates.size(); ++i) {
    const Json& expected = corpus.expected.at("per_image")[i];
    EXPECT_NEAR(cider_d(corpus.candidates[i], corpus.references[i], frequencies),
                expected.at("cider_d").get<double>(), tests::kFigure)
        << expected.at("id");
  }
}

INSTANTIATE_TEST_SUITE_P(Corpora, GoldenCider,
                         testing::Values("all", "single_image", "perfect", "without_edge_cases"));

TEST(DocumentFrequencies, CountsImagesNotReferences) {
  const std::vector<std::vector<Sentence>> references{{{1, 2}, {1}}, {{1, 3}}, {{3}}, {{4}}};
  const DocumentFrequencies frequencies(references);
  const auto weight = [&](Word first, Word second = kNoWord) {
    return frequencies.weight({first, second, kNoWord, kNoWord});
  };
  EXPECT_EQ(frequencies.images(), 4);
  EXPECT_DOUBLE_EQ(weight(1), std::log(4.0 / 2));
  EXPECT_DOUBLE_EQ(weight(3), std::log(4.0 / 2));
  EXPECT_DOUBLE_EQ(weight(2), std::log(4.0));
  EXPECT_DOUBLE_EQ(weight(1, 2), std::log(4.0));
  EXPECT_DOUBLE_EQ(weight(7), std::log(4.0)) << "unknown: as if one image had it";
}

TEST(DocumentFrequencies, OfALargerSetGiveASingleImageAMeaning) {
  const tests::GoldenCorpus all = tests::golden_corpus("all");
  const DocumentFrequencies frequencies(all.references);
  const Json& first = all.expected.at("per_image")[0];
  const tests::GoldenCorpus single = tests::golden_corpus("single_image");
  const DocumentFrequencies alone(single.references);
  EXPECT_EQ(cider_d(single.candidates[0], single.references[0], alone), 0);
  EXPECT_NEAR(cider_d(all.candidates[0], all.references[0], frequencies),
              first.at("cider_d").get<double>(), tests::kFigure);
}

TEST(Cider, WithoutReferencesIsRefused) {
  EXPECT_THROW(cider_d({1}, {}, DocumentFrequencies({})), std::invalid_argument);
}

}  // namespace
}  // namespace vitascope::metrics
