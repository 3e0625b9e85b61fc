#include "vit/json_object.h"

#include <gmock/gmock.h>

#include "tests/input_error.h"

namespace vitascope {
namespace {

using tests::input_error;

const Json kJson = Json::parse(R"({
  "depth": 12, "ratio": 2.0, "half": 2.5, "name": "vit", "flag": true, "nothing": null,
  "size": [32, 48], "triple": [1, 2, 3], "text size": ["a", "b"], "below": {"depth": "many"},
  "long": "0123456789012345678901234567890123456789012345678901234567890123456789",
  "huge": 1e300, "control": "a\nb"
})");

JsonObject values() { return {kJson, "config.json"}; }

TEST(JsonObject, ReadsWhatIsThere) {
  EXPECT_EQ(values().integer("depth", 1, 20), 12);
  EXPECT_EQ(values().integer("ratio", 1, 20), 2);  // Python writes 2.0 after a division
  EXPECT_EQ(values().number("half"), 2.5);
  EXPECT_EQ(values().text("name"), "vit");
  EXPECT_TRUE(values().boolean("flag", false));
  EXPECT_EQ(values().pair("size", 1, 100), (std::pair{32, 48}));
  EXPECT_EQ(values().pair("depth", 1, 100), (std::pair{12, 12}));
}

TEST(JsonObject, NullAndMissingGiveTheFallback) {
  for (const char* key : {"nothing", "absent"}) {
    EXPECT_FALSE(values().has(key));
    EXPECT_EQ(values().integer(key, 1, 20, 7), 7);
    EXPECT_EQ(values().number(key, 0.5), 0.5);
    EXPECT_EQ(values().text(key, "none"), "none");
    EXPECT_TRUE(values().boolean(key, true));
    EXPECT_EQ(values().pair(key, 1, 9, std::pair{3, 4}), (std::pair{3, 4}));
    EXPECT_TRUE(values().object(key).keys().empty());
  }
}

TEST(JsonObject, ErrorsNameFileKeyValueAndExpectation) {
  EXPECT_EQ(input_error([] { values().integer("absent", 1, 20); }),
            "config.json: 'absent' is missing: expected a whole number, 1 to 20");
  EXPECT_EQ(input_error([] { values().integer("depth", 1, 9); }),
            "config.json: 'depth' is 12: expected a whole number, 1 to 9");
  EXPECT_EQ(input_error([] { values().integer("half", 1, 9); }),
            "config.json: 'half' is 2.5: expected a whole number, 1 to 9");
  EXPECT_EQ(input_error([] { values().integer("name", 1, 9, 3); }),
            "config.json: 'name' is \"vit\": expected a whole number, 1 to 9");
  EXPECT_EQ(input_error([] { values().boolean("name", true); }),
            "config.json: 'name' is \"vit\": expected true or false");
  EXPECT_EQ(input_error([] { values().object("below").integer("depth", 1, 9); }),
            "config.json: 'below.depth' is \"many\": expected a whole number, 1 to 9");
  EXPECT_EQ(input_error([] { values().object("depth"); }),
            "config.json: 'depth' is 12: expected a JSON object");
}

TEST(JsonObject, NumbersBeyondIntAreNoWholeNumbers) {
  EXPECT_THAT(input_error([] { values().integer("huge", 1, 9); }), testing::HasSubstr("'huge'"));
}

TEST(JsonObject, PairsAreOneNumberOrTwo) {
  for (const char* key : {"triple", "text size", "name"}) {
    EXPECT_THAT(input_error([&] { values().pair(key, 1, 9); }),
                testing::HasSubstr("or two of them as [height, width]"));
  }
}

TEST(JsonObject, ObjectsOfAListAreNamedByTheirPlace) {
  const Json json = Json::parse(R"({"a": [{"b": 1}, {"b": 2}], "c": [{}, 7], "d": {}})");
  const JsonObject root(json, "config.json");
  const std::vector<JsonObject> objects = root.objects("a");
  ASSERT_EQ(objects.size(), 2u);
  EXPECT_EQ(objects[1].integer("b", 0, 9), 2);
  EXPECT_EQ(input_error([&] { objects[1].integer("e", 0, 9); }),
            "config.json: 'a[1].e' is missing: expected a whole number, 0 to 9");
  EXPECT_EQ(input_error([&] { root.objects("c"); }),
            "config.json: 'c[1]' is 7: expected a JSON object");
  EXPECT_EQ(input_error([&] { root.objects("d"); }), "config.json: 'd' is {}: expected a list");
  EXPECT_EQ(input_error([&] { root.objects("f"); }),
            "config.json: 'f' is missing: expected a list");
}

TEST(JsonObject, LongAndHostileValuesAreShownShortAndEscaped) {
  const std::string text = input_error([] { values().number("long"); });
  EXPECT_LT(text.size(), 130u);
  EXPECT_THAT(text, testing::HasSubstr("..."));
  EXPECT_THAT(input_error([] { values().number("control"); }), testing::HasSubstr("a\\nb"));
}

TEST(JsonObject, RefusesWhatIsNoObject) {
  const Json list = Json::array({1, 2});
  EXPECT_EQ(input_error([&] { JsonObject(list, "config.json"); }),
            "config.json: the file holds [1,2]: expected a JSON object");
}

}  // namespace
}  // namespace vitascope
