#include "vit/metrics/rouge.h"

#include <gmock/gmock.h>

#include "tests/vit/metrics/golden_captions.h"

namespace vitascope::metrics {
namespace {

TEST(RougeL, OfTheGoldenCaptions) {
  const tests::GoldenCorpus corpus = tests::golden_corpus("all");
  for (std::size_t i = 0; i < corpus.candidates.size(); ++i) {
    const Json& expected = corpus.expected.at("per_image")[i];
    EXPECT_NEAR(rouge_l(corpus.candidates[i], corpus.references[i]),
                expected.at("rouge_l").get<double>(), tests::kFigure)
        << expected.at("id");
  }
}

TEST(RougeL, OfNothingIsZero) {
  const std::vector<Sentence> references{{}, {1, 2}};
  EXPECT_EQ(rouge_l({}, references), 0);
  EXPECT_EQ(rouge_l({3}, references), 0);
}

TEST(RougeL, WithoutReferencesIsRefused) { EXPECT_THROW(rouge_l({1}, {}), std::invalid_argument); }

}  // namespace
}  // namespace vitascope::metrics
