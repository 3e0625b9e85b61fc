#include "app/output.h"

#include <gmock/gmock.h>

#include <nlohmann/json.hpp>

#include "vit/error.h"

namespace vitascope::app::output {
namespace {

using testing::HasSubstr;

Classification cat() {
  return {
      "photos/cat.png", {451, 300}, {{3, "cat", 0.75}, {12, "tabby, cat", 0.125}}, {1.5, 2.5, 30}};
}

TEST(ParseFormat, KnowsThree) {
  EXPECT_EQ(parse_format("text"), Format::text);
  EXPECT_EQ(parse_format("json"), Format::json);
  EXPECT_EQ(parse_format("csv"), Format::csv);
  EXPECT_THROW(parse_format("xml"), UsageError);
}

TEST(RenderText, PutsTheLabelFirstAndAligns) {
  EXPECT_EQ(render(cat(), Format::text, false),
            "photos/cat.png\n"
            "  cat         0.7500\n"
            "  tabby, cat  0.1250\n");
}

TEST(RenderText, BarsAreAsLongAsTheProbability) {
  const std::string text = render(cat(), Format::text, true);
  std::string expected = "0.7500  ";
  for (int i = 0; i < 24; ++i) expected += "█";
  EXPECT_THAT(text, HasSubstr(expected + "\n"));
}

TEST(RenderText, AlignsWideAndCombiningCharacters) {
  Classification result = cat();
  result.predictions = {{0, "猫", 0.5}, {1, "abcd", 0.25}, {2, "e\u0301", 0.25}};
  EXPECT_THAT(render(result, Format::text, false),
              HasSubstr("  猫    0.5000\n  abcd  0.2500\n  e\u0301     0.2500\n"));
}

TEST(RenderText, SaysWhenNothingReachesTheThreshold) {
  Classification result = cat();
  result.predictions.clear();
  EXPECT_THAT(render(result, Format::text, false), HasSubstr("nothing reaches the threshold"));
}

TEST(RenderJson, IsOneObjectALine) {
  const std::string text = render(cat(), Format::json, true);
  EXPECT_EQ(text.find('\n'), text.size() - 1);
  const nlohmann::json object = nlohmann::json::parse(text);
  EXPECT_EQ(object["path"], "photos/cat.png");
  EXPECT_EQ(object["size"], (std::vector<int>{451, 300}));
  EXPECT_EQ(object["predictions"][1]["index"], 12);
  EXPECT_EQ(object["predictions"][1]["label"], "tabby, cat");
  EXPECT_EQ(object["predictions"][1]["probability"], 0.125);
  EXPECT_EQ(object["timing"]["decode_ms"], 1.5);
  EXPECT_EQ(object["timing"]["prepare_ms"], 2.5);
  EXPECT_EQ(object["timing"]["model_ms"], 30);
}

TEST(RenderJson, SurvivesBytesThatAreNotUtf8) {
  Classification result = cat();
  result.path = "a\xff\n.png";
  const nlohmann::json object = nlohmann::json::parse(render(result, Format::json, false));
  EXPECT_EQ(object["path"], "a\uFFFD\n.png");
}

TEST(RenderCsv, HasARowForEachPrediction) {
  EXPECT_EQ(header(Format::csv), "path,width,height,rank,index,label,probability\n");
  EXPECT_EQ(render(cat(), Format::csv, true),
            "photos/cat.png,451,300,1,3,cat,0.75\n"
            "photos/cat.png,451,300,2,12,\"tabby, cat\",0.125\n");
}

TEST(RenderCsv, APhotoWithoutPredictionsKeepsARow) {
  Classification result = cat();
  result.predictions.clear();
  EXPECT_EQ(render(result, Format::csv, false), "photos/cat.png,451,300,,,,\n");
}

TEST(Header, OnlyCsvHasOne) {
  EXPECT_EQ(header(Format::text), "");
  EXPECT_EQ(header(Format::json), "");
}

TEST(CsvField, QuotesEscapesAndDefuses) {
  EXPECT_EQ(csv_field("plain"), "plain");
  EXPECT_EQ(csv_field("a,b"), "\"a,b\"");
  EXPECT_EQ(csv_field("a\"b"), "\"a\"\"b\"");
  EXPECT_EQ(csv_field("two\nlines"), "two\\nlines");
  EXPECT_EQ(csv_field("=1+1"), "'=1+1");
  EXPECT_EQ(csv_field("+1"), "'+1");
  EXPECT_EQ(csv_field("-1"), "'-1");
  EXPECT_EQ(csv_field("@SUM(A1)"), "'@SUM(A1)");
  EXPECT_EQ(csv_field("=a,\"b\""), "\"'=a,\"\"b\"\"\"");
  EXPECT_EQ(csv_field(" leading"), "\" leading\"");
  EXPECT_EQ(csv_field(""), "");
}

TEST(Messages, AreOneLineEach) {
  testing::internal::CaptureStderr();
  error("a\nb\x1b[2J");
  warning("careful");
  note("by the way");
  EXPECT_EQ(
      testing::internal::GetCapturedStderr(),
      "vitascope: error: a\\nb\\x1B[2J\nvitascope: warning: careful\nvitascope: by the way\n");
}

}  // namespace
}  // namespace vitascope::app::output
