#include "app/label_match.h"

#include <gmock/gmock.h>

#include "tests/cli/run_program.h"
#include "vit/error.h"

namespace vitascope::app {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;
using testing::ThrowsMessage;

/// One picture of each class.
datasets::LabelledImages images_of(std::vector<std::string> classes) {
  datasets::LabelledImages images;
  images.classes = std::move(classes);
  images.samples.resize(images.classes.size());
  for (std::size_t i = 0; i < images.samples.size(); ++i)
    images.samples[i].labels = {static_cast<int>(i)};
  return images;
}

TEST(LabelMatch, GoesByNameWhateverTheOrder) {
  const LabelMatch match =
      match_labels(images_of({"cat", "Dog", "été"}), {0, 1, 2}, {"dog", "été", "bird", "cat"}, {});
  EXPECT_EQ(match, (LabelMatch{3, 0, 1}));
}

TEST(LabelMatch, TheSameCaseWinsOverAnother) {
  EXPECT_EQ(find_label("Crane", {"crane", "Crane"}), 1);
  EXPECT_EQ(find_label("CRANE", {"crane", "Crane"}), std::nullopt) << "either could be meant";
  EXPECT_EQ(find_label("crane", {"crane", "crane"}), std::nullopt) << "either could be meant";
}

TEST(LabelMatch, ListsWhatIsMissingAndWhatIsNear) {
  EXPECT_THAT(
      [] {
        match_labels(images_of({"cat", "dogs", "fish", "crane"}), {0, 1, 2, 3},
                     {"cat", "dog", "crane", "crane"}, {{"fish", "tench"}});
      },
      ThrowsMessage<UsageError>(
          AllOf(HasSubstr("3 of the data's classes"), HasSubstr("'dogs' (near 'dog')"),
                HasSubstr("'fish' (mapped to 'tench')"), HasSubstr("'crane' (several classes"),
                HasSubstr("--label-map"), Not(HasSubstr("'cat'")))));
}

TEST(LabelMatch, AClassThatNoPhotoShowsIsNotMissed) {
  EXPECT_EQ(match_labels(images_of({"cat", "gone"}), {0}, {"cat"}, {}),
            (LabelMatch{0, std::nullopt}));
}

TEST(LabelMatch, AMapJoinsClasses) {
  const LabelMap map{{"tench", "Fish"}, {"goldfish", "Fish"}};
  EXPECT_EQ(match_labels(images_of({"goldfish", "tench", "cat"}), {0, 1, 2}, {"cat", "fish"}, map),
            (LabelMatch{1, 1, 0}));
}

TEST(LabelMap, IsATableOfTwoColumns) {
  const tests::TemporaryFolder folder;
  const LabelMap map = read_label_map(
      folder.write("map.csv", "data,model\ntench,\"fish, any\"\nroach,\"fish, any\"\n"));
  EXPECT_EQ(map, (LabelMap{{"tench", "fish, any"}, {"roach", "fish, any"}}));
}

TEST(LabelMap, RefusesWhatIsNone) {
  const tests::TemporaryFolder folder;
  const struct {
    const char* text;
    const char* part;
  } cases[] = {{"data,label\na,b\n", "no column 'model'"},
               {"data,model\na,\n", "line 2"},
               {"data,model\na,b\na,c\n", "'a' goes to 'b' already"}};
  for (const auto& test : cases) {
    const std::string path = folder.write("map.csv", test.text);
    EXPECT_THAT([&] { read_label_map(path); },
                ThrowsMessage<UsageError>(AllOf(HasSubstr("map.csv"), HasSubstr(test.part))));
  }
  EXPECT_THROW(read_label_map(folder / "none.csv"), UsageError);
}

}  // namespace
}  // namespace vitascope::app
