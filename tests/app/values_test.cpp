#include "app/values.h"

#include <gmock/gmock.h>

#include "vit/error.h"

namespace vitascope::app {
namespace {

using testing::HasSubstr;

/// What a check says of a text; "" when it is fine.
std::string answer(const CLI::Validator& check, std::string text) { return check(text); }

TEST(WholeNumber, TakesWholeNumbersOfItsRangeOnly) {
  const CLI::Validator check = whole_number(1, 100);
  for (const char* good : {"1", "42", "100"}) EXPECT_EQ(answer(check, good), "") << good;
  for (const char* bad :
       {"0", "101", "-1", "4.0", "1e2", "", " 4", "4 ", "0x10", "99999999999999999999"}) {
    EXPECT_THAT(answer(check, bad), HasSubstr("not a whole number from 1 to 100")) << bad;
  }
}

TEST(Number, TakesFiniteNumbersOfItsRangeOnly) {
  const CLI::Validator check = number(0, 1);
  for (const char* good : {"0", "1", "0.25", "1e-3"}) EXPECT_EQ(answer(check, good), "") << good;
  for (const char* bad : {"1.01", "-0.1", "nan", "inf", "0,5", "", "1e999"}) {
    EXPECT_THAT(answer(check, bad), HasSubstr("not a number from 0 to 1")) << bad;
  }
}

TEST(OneOf, SuggestsTheNearestName) {
  const CLI::Validator check = one_of({"text", "json"});
  EXPECT_EQ(answer(check, "json"), "");
  EXPECT_EQ(answer(check, "jsn"), "'jsn' is none of text, json; did you mean 'json'?");
  EXPECT_EQ(answer(check, "xml"), "'xml' is none of text, json");
  EXPECT_EQ(answer(check, "\n"), "'\\n' is none of text, json");
}

TEST(ParseSize, TakesASquareOrHeightTimesWidth) {
  EXPECT_EQ(parse_size("224"), (image::Size{.width = 224, .height = 224}));
  EXPECT_EQ(parse_size("48x32"), (image::Size{.width = 32, .height = 48}));
  for (const char* bad : {"", "x", "0", "-4", "4x", "x4", "4x4x4", "4 x 4", "20000", "3.5"}) {
    EXPECT_THROW(parse_size(bad), UsageError) << bad;
  }
}

TEST(ParseChannels, TakesThreeNumbers) {
  EXPECT_EQ(parse_channels("0.5,-1,2e-1"), (std::array<float, 3>{0.5f, -1.0f, 0.2f}));
  for (const char* bad :
       {"", "0.5", "0.5,0.5", "0.5,0.5,0.5,0.5", "0.5,0.5,", "a,b,c", "0.5, 0.5, 0.5", "nan,0,0"}) {
    EXPECT_THROW(parse_channels(bad), UsageError) << bad;
  }
}

TEST(ParseFilter, KnowsEveryFilterByItsName) {
  EXPECT_EQ(parse_filter("nearest"), image::Filter::nearest);
  EXPECT_EQ(parse_filter("lanczos"), image::Filter::lanczos);
  EXPECT_EQ(parse_filter("bilinear"), image::Filter::bilinear);
  EXPECT_EQ(parse_filter("bicubic"), image::Filter::bicubic);
  EXPECT_EQ(parse_filter("box"), image::Filter::box);
  EXPECT_EQ(parse_filter("hamming"), image::Filter::hamming);
  try {
    parse_filter("bicubik");
    FAIL();
  } catch (const UsageError& error) {
    EXPECT_THAT(error.what(), HasSubstr("did you mean 'bicubic'?"));
  }
}

TEST(ParseResize, TakesEveryMode) {
  EXPECT_EQ(parse_resize("none").mode, image::ResizeMode::none);
  const Resize squash = parse_resize("squash:224x196");
  EXPECT_EQ(squash.mode, image::ResizeMode::squash);
  EXPECT_EQ(squash.size, (image::Size{.width = 196, .height = 224}));
  const Resize shortest = parse_resize("shortest:256");
  EXPECT_EQ(shortest.mode, image::ResizeMode::shortest_edge);
  EXPECT_EQ(shortest.edge, 256);
  EXPECT_EQ(parse_resize("longest:64").mode, image::ResizeMode::longest_edge);
  for (const char* bad :
       {"", "224", "squash", "squash:", "squash:0", "shortest:2x2", "none:3", "crop:3"}) {
    EXPECT_THROW(parse_resize(bad), UsageError) << bad;
  }
}

TEST(ParseCrop, TakesASizeOrNone) {
  EXPECT_EQ(parse_crop("none"), std::nullopt);
  EXPECT_EQ(parse_crop("224"), (image::Size{224, 224}));
  EXPECT_THROW(parse_crop("center"), UsageError);
}

TEST(AcceptedBy, AnswersWithTheParsersMessage) {
  EXPECT_EQ(answer(accepted_by(parse_crop), "none"), "");
  EXPECT_THAT(answer(accepted_by(parse_crop), "some"), HasSubstr("'some' is not a crop"));
}

}  // namespace
}  // namespace vitascope::app
