#include "vit/caption/vocabulary.h"

#include <gmock/gmock.h>

#include <filesystem>
#include <stdexcept>

#include "tests/input_error.h"
#include "vit/error.h"

namespace vitascope::caption {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using tests::input_error;

const std::vector<Words> kCaptions{{"a", "dog", "on", "a", "sofa"},
                                   {"a", "cat", "on", "a", "mat"},
                                   {"dog", "and", "cat"},
                                   {"b\xC3\xA4r"}};

Vocabulary built(std::int64_t least_count = 1, std::size_t most_words = 100) {
  return Vocabulary::build(kCaptions, {.least_count = least_count, .most_words = most_words},
                           "a rule");
}

TEST(Vocabulary, OrdersByFrequencyThenByBytes) {
  const Vocabulary vocabulary = built();
  EXPECT_EQ(vocabulary.to_json()["words"], Json({"<pad>", "<start>", "<end>", "<unk>", "a", "cat",
                                                 "dog", "on", "and", "b\xC3\xA4r", "mat", "sofa"}));
  EXPECT_EQ(vocabulary.tokenizer(), "a rule");
  EXPECT_EQ(vocabulary.size(), 12);
}

TEST(Vocabulary, CutsOffWhatIsRareAndWhatIsTooMuch) {
  EXPECT_EQ(built(2).size(), 4 + 4);
  EXPECT_EQ(built(3).size(), 4 + 1);
  const Vocabulary two = built(1, 2);
  EXPECT_EQ(two.size(), 4 + 2);
  EXPECT_EQ(two.word(5), "cat");
  EXPECT_THROW(built(5), UsageError);
  EXPECT_THROW(built(0), UsageError);
  EXPECT_THROW(built(1, 0), UsageError);
}

TEST(Vocabulary, KnowsTheNumberOfEachWord) {
  const Vocabulary vocabulary = built();
  for (std::int64_t id = kUnknown + 1; id < vocabulary.size(); ++id) {
    EXPECT_EQ(vocabulary.id(vocabulary.word(id)), id);
  }
  EXPECT_EQ(vocabulary.id("zebra"), kUnknown);
  EXPECT_EQ(vocabulary.id("<end>"), kUnknown) << "a caption can't end itself";
  EXPECT_THROW(vocabulary.word(-1), std::out_of_range);
  EXPECT_THROW(vocabulary.word(12), std::out_of_range);
}

TEST(Vocabulary, EncodesAndDecodes) {
  const Vocabulary vocabulary = built();
  EXPECT_THAT(vocabulary.encode({"a", "zebra", "on"}), ElementsAre(kStart, 4, kUnknown, 7, kEnd));
  EXPECT_THAT(vocabulary.encode({}), ElementsAre(kStart, kEnd));
  EXPECT_THAT(vocabulary.decode({kStart, 4, kUnknown, 7, kEnd, 4, kPad}),
              ElementsAre("a", "<unk>", "on"));
  EXPECT_THAT(vocabulary.decode({kPad, 6}), ElementsAre("dog"));
  EXPECT_THROW(vocabulary.decode({99}), std::out_of_range);
}

TEST(Vocabulary, LeavesOutWhatCannotBeWritten) {
  const Vocabulary vocabulary =
      Vocabulary::build({{"<end>", "<unk>", "", "two words", "tab\t", "\xFF", "\xE2\x80\xAE",
                          std::string(kLongestWord + 1, 'x'), "kept"}},
                        {.least_count = 1}, "a rule");
  EXPECT_EQ(vocabulary.size(), 5);
  EXPECT_EQ(vocabulary.word(4), "kept");
}

TEST(Vocabulary, IsTheSameAfterAFile) {
  const std::string path = testing::TempDir() + "vocabulary_test.json";
  std::filesystem::remove(path);
  const Vocabulary vocabulary = built();
  vocabulary.save(path, false);
  EXPECT_EQ(Vocabulary::open(path), vocabulary);
  EXPECT_EQ(Vocabulary::open(path).encode({"dog"}), vocabulary.encode({"dog"}));
  EXPECT_THROW(vocabulary.save(path, false), UsageError);
  std::filesystem::remove(path);
}

/// The message for a file with these words after the special tokens, or without them.
std::string message(const Json& words, bool with_special_tokens = true) {
  Json list = Json::array();
  if (with_special_tokens) list = {"<pad>", "<start>", "<end>", "<unk>"};
  for (const Json& word : words) list.push_back(word);
  const Json json{{"tokenizer", "a rule"}, {"words", list}};
  return input_error([&] { Vocabulary::parse(json, "vocabulary.json"); });
}

TEST(Vocabulary, RefusesAFileThatIsNone) {
  EXPECT_THAT(message({"a", "b", "c", "b"}),
              HasSubstr("vocabulary.json: 'words' has 'b' at positions 5 and 7"));
  EXPECT_THAT(message({"a", ""}), HasSubstr("has '' at position 5"));
  EXPECT_THAT(message({"a", 7}), HasSubstr("no text at position 5"));
  EXPECT_THAT(message({"a", "two words"}), HasSubstr("'two words' at position 5"));
  EXPECT_THAT(message({"a", "new\nline"}), HasSubstr("'new\\nline' at position 5"));
  EXPECT_THAT(message({"a", "<end>"}), HasSubstr("'<end>' at position 5"));
  EXPECT_THAT(message({std::string(kLongestWord + 1, 'x')}), HasSubstr("xxx...'"));
  EXPECT_THAT(message(Json::array()), HasSubstr("has 4 entries"));
  EXPECT_THAT(message({"<pad>", "<start>", "<unk>", "<end>", "a"}, false),
              HasSubstr("'<unk>' at position 2: expected '<end>'"));
  EXPECT_THAT(message({"a", "b", "c", "d", "e"}, false), HasSubstr("expected '<pad>'"));
}

TEST(Vocabulary, RefusesAFileWithoutItsKeys) {
  const auto parsed = [](const Json& json) {
    return input_error([&] { Vocabulary::parse(json, "vocabulary.json"); });
  };
  EXPECT_THAT(parsed(Json::array()), HasSubstr("expected a JSON object"));
  EXPECT_THAT(parsed({{"words", {"a"}}}), HasSubstr("'tokenizer' is missing"));
  EXPECT_THAT(parsed({{"tokenizer", ""}, {"words", {"a"}}}), HasSubstr("'tokenizer' is \"\""));
  EXPECT_THAT(parsed({{"tokenizer", "a rule"}}), HasSubstr("'words' is missing"));
  EXPECT_THAT(parsed({{"tokenizer", "a rule"}, {"words", "a"}}), HasSubstr("a list of words"));
}

TEST(Vocabulary, RefusesTooManyWords) {
  Json words = Json::array();
  for (std::size_t i = 0; i <= kLargestVocabulary; ++i) words.push_back(nullptr);
  EXPECT_THAT(message(words), HasSubstr("at most 1000000"));
}

}  // namespace
}  // namespace vitascope::caption
