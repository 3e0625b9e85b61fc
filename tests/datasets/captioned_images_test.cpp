#include "datasets/captioned_images.h"

#include <gmock/gmock.h>

#include "tests/input_error.h"

namespace vitascope::datasets {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

std::string captions_error(const std::string& text) {
  return tests::input_error([&] { parse_captions(text, "captions"); });
}

TEST(ParseCaptions, EveryFormatIsToldByItsContent) {
  for (const char* text :
       {"d/a.jpg#0\tA dog.\nd/a.jpg#1\t Two\tdogs \nb.jpg#0\tA cat\n",
        "\xEF\xBB\xBFimage,caption\nd/a.jpg,A dog.\nd/a.jpg,\"Two\tdogs\"\nb.jpg,A cat\n",
        "image_name| comment_number| comment\nd/a.jpg| 0| A dog.\nd/a.jpg| 1| Two\tdogs\nb.jpg| 0| "
        "A cat\n",
        R"( {"images": [{"id": 7, "file_name": "d/a.jpg"}, {"id": 5, "file_name": "b.jpg"}],
             "annotations": [{"image_id": 7, "caption": "A dog."}, {"image_id": 5, "caption": "A cat"},
                             {"image_id": 7, "caption": "Two\tdogs"}]})",
        R"({"images": [{"filepath": "d", "filename": "a.jpg",
                        "sentences": [{"raw": "A dog."}, {"raw": "Two\tdogs"}]},
                       {"filename": "b.jpg", "sentences": [{"tokens": ["A", "cat"]}]}]})"}) {
    SCOPED_TRACE(text);
    const CaptionedImages images = parse_captions(text, "captions");
    ASSERT_THAT(images.photos, SizeIs(2));
    EXPECT_EQ(images.photos[0].path, "d/a.jpg");
    EXPECT_THAT(images.photos[0].captions, ElementsAre("A dog.", "Two\tdogs"));
    EXPECT_EQ(images.photos[1].path, "b.jpg");
    EXPECT_THAT(images.photos[1].captions, ElementsAre("A cat"));
    EXPECT_THAT(images.notes, IsEmpty());
    EXPECT_FALSE(images.source.empty());
  }
}

TEST(ParseCaptions, EmptyOnesAreLeftOutAndTold) {
  const CaptionedImages images = parse_captions(
      "a.jpg#0\t \na.jpg#1\tA dog\nb.jpg#0\t\nc.jpg#0\t\nd.jpg#0\t\ne.jpg#0\t\n", "captions");
  ASSERT_THAT(images.photos, SizeIs(1));
  EXPECT_THAT(images.photos[0].captions, ElementsAre("A dog"));
  EXPECT_THAT(
      images.notes,
      ElementsAre(AllOf(HasSubstr("5 empty captions"), HasSubstr("a.jpg, b.jpg, c.jpg and 2 more")),
                  AllOf(HasSubstr("4 photos"), HasSubstr("b.jpg, c.jpg, d.jpg and 1 more"))));
}

TEST(ParseCaptions, APhotoThatJsonHasTwiceIsOne) {
  const CaptionedImages images = parse_captions(
      R"({"images": [{"id": 1, "file_name": "a.jpg"}, {"id": 2, "file_name": "a.jpg"}],
          "annotations": [{"image_id": 1, "caption": "x"}, {"image_id": 2, "caption": "y"}]})",
      "captions");
  ASSERT_THAT(images.photos, SizeIs(1));
  EXPECT_THAT(images.photos[0].captions, ElementsAre("x", "y"));
  EXPECT_THAT(images.notes, ElementsAre(HasSubstr("1 entries")));
}

TEST(ParseCaptions, OtherCharactersStay) {
  const CaptionedImages images = parse_captions("é.jpg#0\tÉcole à côté\n", "captions");
  EXPECT_EQ(images.photos[0].id, "é.jpg");
  EXPECT_THAT(images.photos[0].captions, ElementsAre("École à côté"));
}

TEST(ParseCaptions, WhatIsNoneOfTheseIsRefused) {
  EXPECT_THAT(captions_error(""), HasSubstr("is empty"));
  EXPECT_THAT(captions_error(" \n\t"), HasSubstr("is empty"));
  EXPECT_THAT(captions_error("path,label\na,b\n"), HasSubstr("begins like no file of captions"));
  EXPECT_THAT(captions_error("a.jpg#x\tA dog\n"), HasSubstr("begins like no file of captions"));
  EXPECT_THAT(captions_error("{\"images\": ["), HasSubstr("not JSON"));
  EXPECT_THAT(captions_error("[]"), HasSubstr("expected a JSON object"));
  EXPECT_THAT(captions_error("image,caption\n"), HasSubstr("holds no caption"));
  EXPECT_THAT(captions_error("image,caption\na.jpg, \n"), HasSubstr("holds no caption"));
  EXPECT_THAT(captions_error("a.jpg#0\tx\nb.jpg#0\tcaf\xE9\n"),
              AllOf(HasSubstr("line 2"), HasSubstr("0xE9"), HasSubstr("UTF-8")));
}

TEST(PhotosOf, ASplit) {
  CaptionedImages images;
  images.photos.resize(3);
  images.photos[1].split = Split::test;
  EXPECT_THAT(photos_of(images, Split::test), ElementsAre(1));
  EXPECT_THAT(photos_of(images, Split::none), ElementsAre(0, 2));
}

TEST(FirstFew, NamesThreeAndCountsTheRest) {
  EXPECT_EQ(first_few({"a"}), "a");
  EXPECT_EQ(first_few({"a", "b\n", "c"}), "a, b\\n, c");
  EXPECT_EQ(first_few({"a", "b", "c", "d", "e"}), "a, b, c and 2 more");
}

}  // namespace
}  // namespace vitascope::datasets
