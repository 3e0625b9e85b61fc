#include "datasets/csv.h"

#include <gmock/gmock.h>

#include "vit/error.h"

namespace vitascope::datasets {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

std::vector<std::vector<std::string>> fields(const std::string& text) {
  std::vector<std::vector<std::string>> result;
  for (const CsvRow& row : parse_csv(text, "t.csv")) result.push_back(row.fields);
  return result;
}

TEST(Csv, FieldsMayBeQuoted) {
  EXPECT_THAT(fields("a,b\n\"x, y\",\"say \"\"hi\"\"\"\n\"two\nlines\",\n"),
              ElementsAre(ElementsAre("a", "b"), ElementsAre("x, y", "say \"hi\""),
                          ElementsAre("two\nlines", "")));
}

TEST(Csv, LineEndsByteOrderMarkAndEmptyLines) {
  EXPECT_THAT(fields("\xEF\xBB\xBF"
                     "a,b\r\n\r\n1,2\r\n\n3,4"),
              ElementsAre(ElementsAre("a", "b"), ElementsAre("1", "2"), ElementsAre("3", "4")));
  EXPECT_THAT(fields(""), testing::IsEmpty());
  EXPECT_THAT(fields("a\rb\n"), ElementsAre(ElementsAre("a\rb")));
}

TEST(Csv, TheFirstLineSaysTheSeparator) {
  EXPECT_THAT(fields("a;b\n1,5;2\n"), ElementsAre(ElementsAre("a", "b"), ElementsAre("1,5", "2")));
  EXPECT_THAT(fields("a\tb\n1\t2\n"), ElementsAre(ElementsAre("a", "b"), ElementsAre("1", "2")));
}

TEST(Csv, RowsKnowTheirLines) {
  const auto rows = parse_csv("a\n\"1\n2\"\n\n3\n", "t.csv");
  ASSERT_EQ(rows.size(), 3u);
  EXPECT_EQ(rows[1].line, 2u);
  EXPECT_EQ(rows[2].line, 5u);
}

std::string refusal(const std::string& text) {
  try {
    parse_csv(text, "t.csv");
  } catch (const InputError& error) {
    return error.what();
  }
  return "accepted";
}

TEST(Csv, BadQuotesAreNamedWithTheirLine) {
  EXPECT_THAT(refusal("a,b\n1,\"open\n2,3\n"), HasSubstr("t.csv: line 2: a quote is opened"));
  EXPECT_THAT(refusal("a,b\n1,\"x\"y\n"), HasSubstr("line 2: text follows a closing quote"));
  EXPECT_THAT(refusal("\""), HasSubstr("line 1"));
}

}  // namespace
}  // namespace vitascope::datasets
