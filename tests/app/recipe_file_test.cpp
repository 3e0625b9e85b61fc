#include "app/recipe_file.h"

#include <gmock/gmock.h>

#include "vit/error.h"

namespace vitascope::app {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

/// The message with which a text is refused.
std::string refusal(const std::string& text) {
  try {
    parse_recipe(text, "r.yaml");
  } catch (const UsageError& error) {
    return error.what();
  }
  ADD_FAILURE() << "accepted: " << text.substr(0, 60);
  return "";
}

TEST(ParseRecipe, GivesKeysValuesAndPlaces) {
  const auto entries = parse_recipe("# comment\nmodel: 'a b'\n\nmean: [0.5, \"0.25\"]\n", "r.yaml");
  ASSERT_EQ(entries.size(), 2u);
  EXPECT_EQ(entries[0].key, "model");
  EXPECT_EQ(entries[0].values, std::vector<std::string>{"a b"});
  EXPECT_FALSE(entries[0].is_list);
  EXPECT_EQ(entries[0].line, 2);
  EXPECT_EQ(entries[0].column, 1);
  EXPECT_EQ(entries[0].value_line, 2);
  EXPECT_EQ(entries[0].value_column, 8);
  EXPECT_EQ(entries[1].values, (std::vector<std::string>{"0.5", "0.25"}));
  EXPECT_TRUE(entries[1].is_list);
  EXPECT_EQ(entries[1].line, 4);
}

TEST(ParseRecipe, TakesBlockListsFlowMapsAndNulls) {
  const auto entries = parse_recipe("inputs:\n- a\n- b\nlabels:\nmodel: ~\nsave: null\n", "r.yaml");
  ASSERT_EQ(entries.size(), 4u);
  EXPECT_EQ(entries[0].values, (std::vector<std::string>{"a", "b"}));
  for (int i = 1; i < 4; ++i) EXPECT_TRUE(entries[static_cast<std::size_t>(i)].is_null) << i;
  EXPECT_EQ(parse_recipe("{top: 3, model: x}", "r.yaml").size(), 2u);
}

TEST(ParseRecipe, ANullInQuotesIsText) {
  const auto entries = parse_recipe("model: \"null\"\n", "r.yaml");
  EXPECT_FALSE(entries[0].is_null);
  EXPECT_EQ(entries[0].values[0], "null");
}

TEST(ParseRecipe, AnEmptyFileSetsNothing) {
  for (const char* text : {"", "\n\n", "# only a comment\n", "---\n"}) {
    EXPECT_TRUE(parse_recipe(text, "r.yaml").empty()) << text;
  }
}

TEST(ParseRecipe, RefusesWhatIsNoFlatMap) {
  EXPECT_THAT(refusal("text"), StartsWith("r.yaml:1:1: expected a map"));
  EXPECT_THAT(refusal("[a]"), StartsWith("r.yaml:1:1: "));
  EXPECT_THAT(refusal("a: {b: 1}"), StartsWith("r.yaml:1:4: "));
  EXPECT_THAT(refusal("a: [[1]]"), StartsWith("r.yaml:1:5: "));
  EXPECT_THAT(refusal("a: [{b: 1}]"), StartsWith("r.yaml:1:5: "));
  EXPECT_THAT(refusal("a: [1, ~]"), HasSubstr("empty"));
  EXPECT_THAT(refusal("? [a, b]\n: 1\n"), StartsWith("r.yaml:1:3: "));
  EXPECT_THAT(refusal("a: 1\nb: 2\na: 3\n"),
              StartsWith("r.yaml:3:1: 'a' is there already, in line 1"));
  EXPECT_THAT(refusal("a: 1\n---\na: 1\n"), HasSubstr("one YAML document"));
}

TEST(ParseRecipe, RefusesWhatIsNoYaml) {
  EXPECT_THAT(refusal("a: [1, 2\nb: x\n"), HasSubstr("not YAML"));
  EXPECT_THAT(refusal("a: [1\n"), HasSubstr("r.yaml:1:"));
  EXPECT_THAT(refusal("a: 1\n  b: 2\n"), HasSubstr("r.yaml:2:"));
  EXPECT_THAT(refusal("\tkey: 1\n"), HasSubstr("r.yaml:"));
}

TEST(ParseRecipe, RefusesAnchorsAliasesAndTags) {
  EXPECT_THAT(refusal("a: &x 1\nb: *x\n"), HasSubstr("anchor"));
  EXPECT_THAT(refusal("a: *x\n"), HasSubstr("r.yaml:1:4"));
  EXPECT_THAT(refusal("a: !!python/object:os.system 1\n"), HasSubstr("tag"));
}

TEST(ParseRecipe, BombsCostNothing) {
  const std::size_t deep = 400'000;
  EXPECT_THAT(refusal("a: " + std::string(deep, '[')), HasSubstr("r.yaml:1:"));
  EXPECT_THAT(refusal("a: " + std::string(deep, '{')), HasSubstr("r.yaml:1:"));
  std::string dashes = "a:\n";
  for (int i = 0; i < 50'000; ++i) dashes += "- ";
  EXPECT_THAT(refusal(dashes), HasSubstr("r.yaml:2:"));
  std::string laughs = "a0: &a0 [x, x]\n";
  for (int i = 1; i < 40; ++i) {
    const std::string name = "a" + std::to_string(i), before = "*a" + std::to_string(i - 1);
    laughs += name + ": &" + name + " [" + before + ", " + before + "]\n";
  }
  EXPECT_THAT(refusal(laughs), HasSubstr("r.yaml:1:"));
}

TEST(ReadRecipe, NamesAFileThatIsMissing) {
  EXPECT_THAT([] { read_recipe("/no/such.yaml"); },
              testing::ThrowsMessage<UsageError>(HasSubstr("/no/such.yaml")));
}

}  // namespace
}  // namespace vitascope::app
