#include "vit/metrics/caption_tokens.h"

#include <gmock/gmock.h>

#include "tests/vit/metrics/golden_captions.h"

namespace vitascope::metrics {
namespace {

using testing::ElementsAre;

TEST(CaptionTokens, AreThoseOfTheRule) {
  const Json golden = read_json(vitascope::tests::golden("caption_metrics/tokenizer.json"));
  EXPECT_TRUE(golden.at("rule").get<std::string>().starts_with(kTokenisation));
  ASSERT_GE(golden.at("cases").size(), 25u);
  for (const Json& each : golden.at("cases"))
    EXPECT_EQ(tokenize(each.at("text").get<std::string>()),
              each.at("tokens").get<std::vector<std::string>>())
        << each.at("text");
}

TEST(CaptionTokens, OfTheGoldenCaptions) {
  for (const Json& image : tests::golden_captions().at("images")) {
    EXPECT_EQ(tokenize(image.at("candidate").get<std::string>()),
              image.at("candidate_tokens").get<std::vector<std::string>>());
    for (std::size_t i = 0; i < image.at("references").size(); ++i)
      EXPECT_EQ(tokenize(image.at("references")[i].get<std::string>()),
                image.at("reference_tokens")[i].get<std::vector<std::string>>());
  }
}

TEST(CaptionTokens, EqualWordsHaveEqualNumbers) {
  WordNumbers numbers;
  EXPECT_THAT(numbers.sentence("The dog, the cat."), ElementsAre(0, 1, 0, 2));
  EXPECT_THAT(numbers.sentence("A DOG"), ElementsAre(3, 1));
  EXPECT_EQ(numbers.size(), 4u);
}

}  // namespace
}  // namespace vitascope::metrics
