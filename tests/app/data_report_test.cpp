#include "app/data_report.h"

#include <gmock/gmock.h>

#include <nlohmann/json.hpp>

namespace vitascope::app {
namespace {

using datasets::LabelledImages;
using datasets::Sample;
using datasets::Split;
using testing::HasSubstr;

Sample sample(const std::string& path, Split split, std::vector<int> labels) {
  Sample result;
  result.path = path;
  result.split = split;
  result.labels = std::move(labels);
  return result;
}

LabelledImages two_classes() {
  LabelledImages images;
  images.source = "class folders";
  images.classes = {"cat", "漢字\n"};
  images.samples = {sample("a.jpg", Split::train, {0}), sample("b.jpg", Split::train, {0}),
                    sample("c\x1b.jpg", Split::test, {1})};
  return images;
}

TEST(DescribeData, CountsClassesInTheSplitsThatAreUsed) {
  EXPECT_EQ(describe_data(two_classes()),
            "class folders: 3 pictures, 2 classes\n"
            "                 train        test\n"
            "  cat                2           0\n"
            "  漢字\\n             0           1\n"
            "  pictures           2           1\n");
}

TEST(DataReport, TextIsFitForATerminal) {
  datasets::CheckReport report;
  report.checked = 2;
  report.broken = {{2, "no\x07picture"}};
  const std::string text = data_report_text(two_classes(), report);
  EXPECT_THAT(text, HasSubstr("broken: 1\n  c\\x1B.jpg: no\\x07picture\n"));
  EXPECT_THAT(text, HasSubstr("checked 2 of 3 pictures: 1 broken\n"));
}

TEST(DataReport, JsonNamesEveryFinding) {
  datasets::CheckReport report;
  report.tiny = {{0, "1 x 1 pixels"}};
  report.duplicates = {{0, 1}};
  report.interrupted = true;
  const auto json = nlohmann::json::parse(data_report_json(two_classes(), report));
  EXPECT_EQ(json["tiny"][0]["path"], "a.jpg");
  EXPECT_EQ(json["duplicates"][0]["kind"], "same use");
  EXPECT_EQ(json["duplicates"][0]["pictures"][1]["path"], "b.jpg");
  EXPECT_EQ(json["classes"][1]["name"], "漢字\n");
  EXPECT_EQ(json["classes"][1]["test"], 1);
  EXPECT_EQ(json["interrupted"], true);
}

}  // namespace
}  // namespace vitascope::app
