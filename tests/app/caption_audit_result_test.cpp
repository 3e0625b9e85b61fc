#include "app/caption_audit_result.h"

#include <gmock/gmock.h>

#include <nlohmann/json.hpp>

#include "tests/app/sure_figure.h"

namespace vitascope::app {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using tests::sure;

CaptionAuditFigures moved(double cost, double words) {
  CaptionAuditFigures audit;
  audit.permuted = {{"cost", {cost}}, {"words_differ", {words}}};
  return audit;
}

TEST(CaptionVerdict, SaysWhetherTheSentenceDependsOnTheAttention) {
  EXPECT_THAT(verdict(moved(3.2, .6)),
              ElementsAre("For this photo permuted attention takes 3.20 of log-probability from a "
                          "word and changes .60 of the words: the sentence depends on where its "
                          "words looked."));
  EXPECT_THAT(verdict(moved(.01, .02)),
              ElementsAre(HasSubstr("the sentence hardly depends on where its words looked.")));
  EXPECT_THAT(verdict(moved(.4, 0)),
              ElementsAre(HasSubstr("makes the sentence likelier, hardly another one.")));
  CaptionAuditFigures many = moved(0, 0);
  many.photos = 40;
  many.permuted = {{"cost", sure(2, 1.5, 2.5)}, {"words_differ", sure(.5, .4, .6)}};
  many.uniform = {{"words_differ", sure(.3, .2, .4)}};
  EXPECT_THAT(verdict(many), ElementsAre(HasSubstr(
                                 "Over 40 photos permuted attention takes 2.00 (1.50 to 2.50) of "
                                 "log-probability from a word and changes .50 (.40 to .60) of "
                                 "the words, even attention .30 (.20 to .40)")));
}

TEST(CaptionVerdict, SaysWhetherAttentionChooses) {
  CaptionAuditFigures audit;
  audit.own = {{"entropy", {.97}}};
  EXPECT_THAT(verdict(audit), IsEmpty());
  audit.own = {{"entropy", {.995}}};
  EXPECT_THAT(verdict(audit), ElementsAre(HasSubstr("nearly even")));
}

TEST(CaptionVerdict, SaysWhetherWordsLookAtWhatTheyName) {
  CaptionAuditFigures audit;
  audit.masks = true;
  EXPECT_THAT(verdict(audit), ElementsAre("No noun names an object that is known."));
  audit.narrow = 1;
  EXPECT_THAT(verdict(audit), ElementsAre(HasSubstr("(1 left out: what it names is narrower")));
  audit.narrow = 0;
  audit.nouns = 2;
  audit.own = {{"inside", {.7}}};
  audit.permuted = {{"inside", {.12}}};
  audit.uniform = {{"inside", {.1}}};
  EXPECT_THAT(verdict(audit),
              ElementsAre("2 nouns had .70 of the attention on the object, which has .10 of the "
                          "area; permuted, .12 falls there: words look at what they name."));
  audit.own = {{"inside", {.15}}};
  EXPECT_THAT(verdict(audit), ElementsAre(HasSubstr("words hardly look at what they name.")));
}

TEST(CaptionAuditText, HasAColumnForEachAttention) {
  CaptionAuditFigures audit = moved(3.25, .5);
  audit.own = {{"log_prob", {-.5}}, {"entropy", {.75}}};
  const std::string text = audit_text(audit);
  EXPECT_THAT(text, testing::ContainsRegex("own +permuted +even\n"));
  EXPECT_THAT(text, testing::ContainsRegex("log-prob a word +-0.500 +- +-  of the caption"));
  EXPECT_THAT(text, testing::ContainsRegex("other words +- +0.500 +-  the share"));
  EXPECT_THAT(text, testing::Not(HasSubstr("on the object")));
}

TEST(CaptionAuditJson, OfOnePhotoAndOfMany) {
  CaptionAudit audit;
  audit.figures = moved(3.25, .5);
  audit.permuted_sentences = {"a cat", "a dog"};
  audit.uniform_sentence = "a cup";
  nlohmann::json json = audit_json(audit);
  EXPECT_EQ(json["permutations"], 2);
  EXPECT_EQ(json["permuted"]["cost"], 3.25);
  EXPECT_EQ(json["sentences"]["permuted"][1], "a dog");
  EXPECT_EQ(json["sentences"]["uniform"], "a cup");
  EXPECT_FALSE(json.contains("nouns"));
  audit.figures.masks = true;
  audit.figures.narrow = 1;
  audit.nouns.push_back({"cup", 2, "cup", .5, .2, .1});
  json = audit_json(audit);
  EXPECT_EQ(json["narrow"], 1);
  EXPECT_EQ(json["nouns"], nlohmann::json::parse(R"([{"word": "cup", "position": 2, "category":
      "cup", "own": 0.5, "permuted": 0.2, "uniform": 0.1}])"));
  CaptionAuditFigures many = audit.figures;
  many.photos = 3;
  many.nouns = 4;
  many.own["log_prob"] = sure(-1, -2, 0);
  json = audit_json(many);
  EXPECT_EQ(json["photos"], 3);
  EXPECT_EQ(json["nouns"], 4);
  EXPECT_EQ(json["own"]["log_prob"]["low"], -2);
  EXPECT_EQ(json["own"]["log_prob"]["mean"], -1);
}

}  // namespace
}  // namespace vitascope::app
