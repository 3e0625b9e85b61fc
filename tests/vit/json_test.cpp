#include "vit/json.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "vit/error.h"

namespace vitascope {
namespace {

using testing::HasSubstr;

std::string error_of(const std::string& text) {
  try {
    parse_json(text, "config.json");
  } catch (const InputError& error) {
    return error.what();
  }
  return "no error";
}

TEST(ParseJson, ReadsValuesInTheirTypes) {
  const Json json = parse_json(R"({"a": [1, 2.5, "x", null, true], "b": {"c": -3}})", "x");
  EXPECT_EQ(json["a"].size(), 5);
  EXPECT_EQ(json["b"]["c"], -3);
}

TEST(ParseJson, NamesFileAndByteOfAFault) {
  EXPECT_EQ(error_of(R"({"a": 1,})"), "config.json: not JSON: unexpected content at byte 8");
  EXPECT_THAT(error_of(""), HasSubstr("not JSON"));
  EXPECT_THAT(error_of("{\"a\": 1} x"), HasSubstr("at byte 9"));
}

TEST(ParseJson, RefusesAKeyTwiceInOneObjectOnly) {
  EXPECT_THAT(error_of(R"({"a": 1, "a": 2})"), HasSubstr("'a' stands twice"));
  EXPECT_THAT(error_of(R"({"b": {"a\n": 1, "a\n": 2}})"), HasSubstr("'a\\n' stands twice"));
  EXPECT_EQ(parse_json(R"([{"a": 1}, {"a": 2}])", "x").size(), 2);
}

TEST(ParseJson, BoundsNesting) {
  const auto nested = [](int depth) { return std::string(depth, '[') + std::string(depth, ']'); };
  EXPECT_NO_THROW(parse_json(nested(kJsonDepth), "x"));
  EXPECT_THAT(error_of(nested(kJsonDepth + 1)), HasSubstr("nested more than 64 levels deep"));
  EXPECT_THAT(error_of(std::string(1'000'000, '[')), HasSubstr("nested more than 64 levels deep"));
}

}  // namespace
}  // namespace vitascope
