#include "app/audit_result.h"

#include <gmock/gmock.h>

#include <nlohmann/json.hpp>

namespace vitascope::app {
namespace {

using testing::HasSubstr;
using testing::Not;

/// Two maps, one of them with what the other lacks.
AuditFigures example() {
  AuditFigures audit;
  audit.maps = {{"raw", false, {{"deletion", {.25}}}},
                {"relevance", true, {{"deletion", {.2}}, {"other_class", {.5}}}}};
  audit.random = {{"deletion", {.3}}};
  audit.weights = {{"uniform_distance", {.04}}};
  return audit;
}

TEST(AuditText, HasALineForEachMeasure) {
  const std::string text = audit_text(example(), {"One sentence.", "Another."});
  EXPECT_THAT(text,
              HasSubstr("                            raw  relevance   chance\n"
                        "  deletion                0.250      0.200    0.300  lower is better"));
  EXPECT_THAT(text, HasSubstr("\n  other class                 -      0.500        -  "));
  EXPECT_THAT(text, HasSubstr("\n  even                    0.040  how far"));
  EXPECT_THAT(text, HasSubstr("(where a patch is taken away stands the model's mean colour)"));
  EXPECT_THAT(text, HasSubstr("\n  One sentence.\n  Another.\n"));
  EXPECT_THAT(text, Not(HasSubstr("sufficiency")));
}

TEST(AuditText, LeavesTheMeaningOutBesideManyColumns) {
  AuditFigures audit = example();
  while (audit.maps.size() < 6) audit.maps.push_back(audit.maps.front());
  EXPECT_THAT(audit_text(audit, {}), Not(HasSubstr("better")));
}

TEST(AuditText, EscapesLabels) {
  AuditFigures audit = example();
  audit.maps[0].label = "\x1b[31m";
  EXPECT_THAT(audit_text(audit, {}), HasSubstr("\\x1B[31m"));
}

TEST(AuditJson, OfAPhotoHasCurvesAndCascade) {
  PhotoAuditResult result;
  result.figures = example();
  result.found.maps.resize(2);
  explain::Faithfulness faithful;
  faithful.deletion_most_first = {{0, 4}, {.9, .1}, {true, false}};
  faithful.insertion_most_first = {{0, 4}, {.1, .9}, {false, true}};
  result.found.maps[1].faithfulness = faithful;
  result.found.maps[1].cascade = {{"head", .5}, {"embedding", std::nullopt}};
  const nlohmann::json json = audit_json(result, {"So."});
  EXPECT_EQ(json["maps"][0]["label"], "raw");
  EXPECT_FALSE(json["maps"][0].contains("deletion"));
  EXPECT_EQ(json["maps"][1]["figures"], (nlohmann::json{{"deletion", .2}, {"other_class", .5}}));
  EXPECT_EQ(json["maps"][1]["deletion"],
            (nlohmann::json{{"patches", {0, 4}}, {"probability", {.9, .1}}}));
  EXPECT_EQ(json["maps"][1]["insertion"]["probability"], (nlohmann::json{.1, .9}));
  EXPECT_EQ(json["maps"][1]["cascade"][0],
            (nlohmann::json{{"forgotten", "head"}, {"correlation", .5}}));
  EXPECT_TRUE(json["maps"][1]["cascade"][1]["correlation"].is_null());
  EXPECT_EQ(json["random"]["deletion"], .3);
  EXPECT_EQ(json["weights"]["uniform_distance"], .04);
  EXPECT_EQ(json["verdict"], nlohmann::json::array({"So."}));
}

TEST(AuditJson, OfManyHasIntervals) {
  AuditFigures one = example(), two = example();
  one.fill = two.fill = "blur";
  two.maps[0].figures["deletion"].value = .35;
  two.maps.pop_back();
  const nlohmann::json json = audit_json(mean_audit({one, two}), {});
  EXPECT_EQ(json["photos"], 2);
  EXPECT_EQ(json["fill"], "blur");
  const nlohmann::json& deletion = json["maps"][0]["figures"]["deletion"];
  EXPECT_DOUBLE_EQ(deletion["mean"], .3);
  EXPECT_EQ(deletion["photos"], 2);
  EXPECT_GE(deletion["low"], .25);
  EXPECT_LE(deletion["high"], .35);
  EXPECT_EQ(json["maps"][1]["label"], "relevance");
  EXPECT_EQ(json["maps"][1]["figures"]["deletion"]["photos"], 1);
  EXPECT_TRUE(json["maps"][1]["figures"]["deletion"]["low"].is_null());
}

TEST(AuditRows, NameTheMapAndTheMeaning) {
  const std::vector<report::AuditRow> rows = audit_rows(example());
  ASSERT_EQ(rows.size(), 5u);
  EXPECT_EQ(rows[1].name, "relevance: deletion");
  EXPECT_EQ(rows[1].value, "0.200");
  EXPECT_THAT(rows[1].meaning, HasSubstr("lower is better: "));
  EXPECT_EQ(rows[3].name, "random maps: deletion");
  EXPECT_EQ(rows[4].name, "attention weights: even");
}

}  // namespace
}  // namespace vitascope::app
