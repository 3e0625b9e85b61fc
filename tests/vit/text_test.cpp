#include "vit/text.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace vitascope {
namespace {

TEST(DecodeUtf8, ReadsOneCharacterOrNone) {
  const auto cat = decode_utf8("猫 1.jpg");
  ASSERT_TRUE(cat);
  EXPECT_EQ(cat->value, U'猫');
  EXPECT_EQ(cat->length, 3u);
  EXPECT_FALSE(decode_utf8("\xFF"));
  EXPECT_FALSE(decode_utf8("\xC3"));          // cut
  EXPECT_FALSE(decode_utf8("\xC0\xAF"));      // overlong
  EXPECT_FALSE(decode_utf8("\xED\xA0\x80"));  // a surrogate
}

TEST(LowerCase, ChangesLettersOfAsciiAlone) {
  EXPECT_EQ(lower_case("AZ az 09 @[`{"), "az az 09 @[`{");
  EXPECT_EQ(lower_case("ÉTÉ \xff"), "ÉtÉ \xff");
  EXPECT_EQ(lower_case(""), "");
}

TEST(Printable, LeavesLettersOfEveryScriptAlone) {
  EXPECT_EQ(printable("été au lac – 猫 1.jpg"), "été au lac – 猫 1.jpg");
  EXPECT_EQ(printable(""), "");
}

TEST(Printable, EscapesWhatMovesTheCursorOrHides) {
  EXPECT_EQ(printable("a\nb\tc\r"), "a\\nb\\tc\\r");
  EXPECT_EQ(printable("\x1b[31mred"), "\\x1B[31mred");
  EXPECT_EQ(printable("\x7f"), "\\x7F");
  EXPECT_EQ(printable("\xc2\x9b"), "\\u{009B}");      // C1: another way to begin an escape sequence
  EXPECT_EQ(printable("\xe2\x80\xae"), "\\u{202E}");  // right-to-left override
}

TEST(Printable, EscapesBytesThatAreNotUtf8) {
  EXPECT_EQ(printable("a\xff"), "a\\xFF");
  EXPECT_EQ(printable("\xc3"), "\\xC3");                             // cut short
  EXPECT_EQ(printable("\xc0\xaf"), "\\xC0\\xAF");                    // overlong
  EXPECT_EQ(printable("\xed\xa0\x80"), "\\xED\\xA0\\x80");           // surrogate
  EXPECT_EQ(printable("\xf4\x90\x80\x80"), "\\xF4\\x90\\x80\\x80");  // above U+10FFFF
}

TEST(NearestName, SuggestsATypingErrorAndNothingFarAway) {
  const std::vector<std::string> names{"threshold", "threads", "top"};
  EXPECT_EQ(nearest_name("treshold", names), "threshold");
  EXPECT_EQ(nearest_name("thread", names), "threads");
  EXPECT_EQ(nearest_name("elephant", names), "");
  EXPECT_EQ(nearest_name("x", {}), "");
}

TEST(NaturalLess, ComparesRunsOfDigitsAsNumbers) {
  std::vector<std::string> names{"10",    "9",      "a10b",  "a9b", "a",
                                 "img 2", "img 10", "img 1", "B",   "b"};
  std::sort(names.begin(), names.end(), natural_less);
  EXPECT_EQ(names, (std::vector<std::string>{"9", "10", "B", "a", "a9b", "a10b", "b", "img 1",
                                             "img 2", "img 10"}));
}

TEST(NaturalLess, IsATotalOrder) {
  EXPECT_TRUE(natural_less("a01", "a1") != natural_less("a1", "a01"));
  EXPECT_FALSE(natural_less("a1", "a1"));
  EXPECT_TRUE(natural_less("99999999999999999999998", "99999999999999999999999"));
}

TEST(ByteCount, UsesDecimalUnits) {
  EXPECT_EQ(byte_count(0), "0 bytes");
  EXPECT_EQ(byte_count(999), "999 bytes");
  EXPECT_EQ(byte_count(1000), "1.0 kB");
  EXPECT_EQ(byte_count(999'960), "1.0 MB");
  EXPECT_EQ(byte_count(343'261'976), "343.3 MB");
}

TEST(ShapeText, PrintsAsPythonDoes) {
  EXPECT_EQ(shape_text({2, 3, 4}), "[2, 3, 4]");
  EXPECT_EQ(shape_text({}), "[]");
}

}  // namespace
}  // namespace vitascope
