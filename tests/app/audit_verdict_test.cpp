#include "app/audit_verdict.h"

#include <gmock/gmock.h>

#include "tests/app/sure_figure.h"

namespace vitascope::app {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using tests::sure;

AuditFigures audit_of(explain::Figures map, explain::Figures weights = {}) {
  AuditFigures audit;
  audit.maps.push_back({"relevance", true, std::move(map)});
  audit.weights = std::move(weights);
  return audit;
}

TEST(Verdict, SaysWhetherTheMapBeatsChance) {
  EXPECT_THAT(verdict(audit_of({{"deletion_over_random", sure(.21, .15, .27)}}), 3),
              ElementsAre(HasSubstr("For this photo relevance beats 3 random maps on deletion by "
                                    ".21 (.15 to .27)")));
  EXPECT_THAT(verdict(audit_of({{"deletion_over_random", sure(.03, -.02, .08)}}), 3),
              ElementsAre(HasSubstr("can't be told from 3 random maps on deletion: .03 (-.02 to "
                                    ".08). Do not read it")));
  EXPECT_THAT(verdict(audit_of({{"deletion_over_random", sure(-.1, -.2, -.05)}}), 1),
              ElementsAre(HasSubstr("does worse than 1 random map on deletion, by .10 (.05 to "
                                    ".20)")));
}

TEST(Verdict, SaysWhetherTheAnswerDependsOnTheWeights) {
  const explain::Figures loose{{"permutation_distance", {.02}},
                               {"permutation_flips", {.01}},
                               {"adversary_divergence", {.65}},
                               {"adversary_distance", {.049}}};
  EXPECT_THAT(verdict(audit_of({}, loose), 3),
              ElementsAre("Shuffling the last layer's attention weights moves the answer by only "
                          ".02, and the predicted class in 1% of shuffles; other weights, .65 "
                          "apart of at most .69, give the same answer within .05: read attention "
                          "as where information could flow, not why."));
  const explain::Figures tight{{"permutation_distance", sure(.45, .4, .5)},
                               {"permutation_flips", {.6}}};
  EXPECT_THAT(verdict(audit_of({}, tight), 3),
              ElementsAre("Shuffling the last layer's attention weights moves the answer by .45 "
                          "(.40 to .50), and the predicted class in 60% of shuffles: the answer "
                          "depends on them."));
}

TEST(Verdict, SaysWhatTheMapDependsOn) {
  EXPECT_THAT(verdict(audit_of({{"untrained", {.9}}, {"other_class", {.95}}}), 3),
              ElementsAre(HasSubstr("correlates .90 with it: it shows the photo more than the"),
                          HasSubstr("correlates .95 with it: it hardly tells classes apart")));
  EXPECT_THAT(verdict(audit_of({{"untrained", {-.05}}, {"other_class", {.2}}}), 3),
              ElementsAre(HasSubstr("correlates -.05 with it: it does show what was learned"),
                          HasSubstr("correlates .20 with it: it tells classes apart")));
  EXPECT_THAT(verdict(audit_of({{"checkpoints", {.97}}}), 3),
              ElementsAre(HasSubstr("correlate .97 with it: they agree on it")));
  AuditFigures raw = audit_of({});
  raw.maps[0].tells_classes = false;
  EXPECT_THAT(verdict(raw, 3), ElementsAre("It is the same map whatever the class."));
}

TEST(Verdict, SaysWhereTheMapPoints) {
  AuditFigures one = audit_of({{"pointing", {1}}, {"energy", {.44}}});
  one.random = {{"energy", {.29}}};
  EXPECT_THAT(verdict(one, 3), ElementsAre("Its peak lies on the object, which holds .44 of it "
                                           "(of random maps .29)."));
  AuditFigures many = audit_of({{"pointing", sure(.63, .5, .7)}, {"energy", sure(.44, .4, .5)}});
  many.photos = 40;
  EXPECT_THAT(verdict(many, 3), ElementsAre("Its peak lies on the object in .63 (.50 to .70) of "
                                            "photos; .44 (.40 to .50) of it lies there."));
}

TEST(Verdict, SpeaksOfWhatWasMeasuredAlone) {
  EXPECT_THAT(verdict(audit_of({}), 3), IsEmpty());
  EXPECT_THAT(verdict({}, 3), IsEmpty());
}

}  // namespace
}  // namespace vitascope::app
