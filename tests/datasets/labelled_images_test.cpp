#include "datasets/labelled_images.h"

#include <gmock/gmock.h>

#include "tests/golden.h"

namespace vitascope::datasets {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

NamedSample named(std::vector<std::string> names) { return {{}, std::move(names)}; }

TEST(NumberLabels, ClassesComeInNaturalOrder) {
  LabelledImages images;
  number_labels({named({"10"}), named({"9"}), named({"été au lac"}), named({"9"})}, images);
  EXPECT_THAT(images.classes, ElementsAre("9", "10", "été au lac"));
  ASSERT_EQ(images.samples.size(), 4u);
  EXPECT_THAT(images.samples[0].labels, ElementsAre(1));
  EXPECT_THAT(images.samples[1].labels, ElementsAre(0));
  EXPECT_THAT(images.samples[2].labels, ElementsAre(2));
  EXPECT_THAT(images.samples[3].labels, ElementsAre(0));
}

TEST(NumberLabels, SeveralAreAscendingAndCountOnce) {
  LabelledImages images;
  number_labels({named({"b", "a", "b"}), named({})}, images);
  EXPECT_THAT(images.samples[0].labels, ElementsAre(0, 1));
  EXPECT_THAT(images.samples[1].labels, IsEmpty());
}

TEST(ParseSplit, KnowsTheUsualWordsInAnyCase) {
  EXPECT_EQ(parse_split("Train"), Split::train);
  for (const char* word : {"val", "VALID", "validation", "dev"})
    EXPECT_EQ(parse_split(word), Split::validation) << word;
  EXPECT_EQ(parse_split("test"), Split::test);
  EXPECT_EQ(parse_split("trains"), std::nullopt);
  EXPECT_EQ(parse_split(""), std::nullopt);
}

TEST(StoredPictures, PlanesBecomeInterleavedAndGrayIsRepeated) {
  StoredPictures stored;
  stored.size = {2, 1};
  stored.channels = 3;
  stored.bytes = {0, 0, 0, 0, 0, 0, 1, 2, 3, 4, 5, 6};
  EXPECT_THAT(stored.picture(1).rgb, ElementsAre(1, 3, 5, 2, 4, 6));
  EXPECT_EQ(stored.picture(1).size, (image::Size{2, 1}));
  stored.channels = 1;
  EXPECT_THAT(stored.picture(4).rgb, ElementsAre(3, 3, 3, 4, 4, 4)) << "the fifth gray picture";
}

TEST(DecodeSample, GivesTheFileOrTheStoredPicture) {
  LabelledImages images;
  Sample file;
  file.path = tests::golden("images/rgb.png");
  EXPECT_EQ(decode(images, file).rgb, image::decode(file.path).rgb);
  images.stored = std::make_shared<StoredPictures>(StoredPictures{{1, 1}, 1, {7, 8}});
  Sample stored;
  stored.path = "batch#1";
  stored.stored = 1;
  EXPECT_THAT(decode(images, stored).rgb, ElementsAre(8, 8, 8));
  EXPECT_EQ(decode(images, stored).path, "batch#1");
}

}  // namespace
}  // namespace vitascope::datasets
