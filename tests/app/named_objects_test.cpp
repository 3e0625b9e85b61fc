#include "app/named_objects.h"

#include <gmock/gmock.h>

#include "vit/metrics/caption_tokens.h"

namespace vitascope::app {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::Pair;

std::vector<std::pair<std::size_t, std::string>> named(const std::string& sentence,
                                                       const std::vector<std::string>& categories) {
  std::vector<std::pair<std::size_t, std::string>> result;
  for (const NamedObject& one : named_objects(metrics::tokenize(sentence), categories)) {
    result.emplace_back(one.word, one.category);
  }
  return result;
}

TEST(NamedObjects, AreFoundByAllWordsOfTheirCategory) {
  const std::vector<std::string> scene{"blue square", "red circle"};
  EXPECT_THAT(named("a small red circle left of a large blue square", scene),
              ElementsAre(Pair(3, "red circle"), Pair(9, "blue square")));
  EXPECT_THAT(named("a small blue circle left of a large square", scene), IsEmpty());
  EXPECT_THAT(named("circle", scene), IsEmpty());
  EXPECT_THAT(named("a red circle and a red circle", scene),
              ElementsAre(Pair(2, "red circle"), Pair(6, "red circle")));
}

TEST(NamedObjects, MayBeInThePlural) {
  EXPECT_THAT(named("two small red circles", {"red circle"}), ElementsAre(Pair(3, "red circle")));
  EXPECT_THAT(named("people and buses and knives and teddies", {"bus", "person", "knife", "teddy"}),
              ElementsAre(Pair(0, "person"), Pair(2, "bus"), Pair(4, "knife"), Pair(6, "teddy")));
  EXPECT_THAT(named("a dogma", {"dog"}), IsEmpty());
}

TEST(NamedObjects, TheLongestNameCounts) {
  EXPECT_THAT(named("a teddy bear by a bear", {"bear", "Teddy Bear"}),
              ElementsAre(Pair(2, "Teddy Bear"), Pair(5, "bear")));
  EXPECT_THAT(named("a bear", {}), IsEmpty());
  EXPECT_THAT(named("", {"bear", ""}), IsEmpty());
}

}  // namespace
}  // namespace vitascope::app
