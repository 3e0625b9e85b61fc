#include "datasets/caption_text.h"

#include <gmock/gmock.h>

#include "tests/input_error.h"

namespace vitascope::datasets {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

/// "path: caption" of every entry.
std::vector<std::string> entries_of(const CaptionedImages& images) {
  std::vector<std::string> lines;
  for (const CaptionedImage& photo : images.photos)
    lines.push_back(photo.path + ": " + photo.captions.at(0));
  return lines;
}

TEST(TokenFile, NamesMayHoldMarksAndCaptionsTabs) {
  const CaptionedImages images = parse_token_file("a#1.jpg#12\tA\tdog\r\n\nd e/b.jpg#0\t", "t");
  EXPECT_THAT(entries_of(images), ElementsAre("a#1.jpg: A\tdog", "d e/b.jpg: "));
  EXPECT_EQ(images.photos[1].id, "b.jpg");
}

TEST(TokenFile, ALineOfAnotherFormIsNamed) {
  const std::string good = "a.jpg#0\tx\n";
  ASSERT_TRUE(is_token_file(good));
  for (const char* bad :
       {"b.jpg#0 no tab", "b.jpg\tno number", "b.jpg#\tx", "#0\tx", "b.jpg#-1\tx"}) {
    EXPECT_FALSE(is_token_file(bad)) << bad;
    EXPECT_THAT(tests::input_error([&] { parse_token_file(good + bad, "t"); }),
                AllOf(HasSubstr("line 2"), HasSubstr("image.jpg#0")))
        << bad;
  }
}

TEST(CaptionTable, ColumnsAreFoundByTheirNames) {
  const char* text = "\"No\";\"Comment\";\"File_Name\"\n1;\"x; \"\"y\"\"\";a.jpg\n";
  ASSERT_TRUE(is_caption_table(text));
  EXPECT_THAT(entries_of(parse_caption_table(text, "t")), ElementsAre("a.jpg: x; \"y\""));
  EXPECT_FALSE(is_caption_table("image,label\na,b\n"));
  EXPECT_FALSE(is_caption_table("caption\nx\n"));
  EXPECT_FALSE(is_caption_table(""));
}

TEST(CaptionTable, TheLastColumnMayHoldCommas) {
  EXPECT_THAT(entries_of(parse_caption_table("image,caption\na.jpg,A dog, a cat , and\n", "t")),
              ElementsAre("a.jpg: A dog, a cat , and"));
  EXPECT_THAT(entries_of(parse_caption_table("image;caption\na.jpg;A dog; a cat\n", "t")),
              ElementsAre("a.jpg: A dog; a cat"));
  EXPECT_THAT(
      tests::input_error([] { parse_caption_table("caption,image\nA dog, a cat,a.jpg\n", "t"); }),
      AllOf(HasSubstr("line 2"), HasSubstr("3 fields, expected 2")));
  EXPECT_THAT(tests::input_error([] { parse_caption_table("image,caption\na.jpg\n", "t"); }),
              HasSubstr("1 fields, expected 2"));
}

TEST(CaptionTable, QuotedNamesThatAreOneAreRefused) {
  const char* text = "\"image\",\"caption,x\"\na,b\n";
  EXPECT_THAT(tests::input_error([&] { parse_caption_table(text, "t"); }), HasSubstr("line 1"));
}

TEST(CaptionTable, BetweenBarsAShortLineIsLeftOut) {
  const CaptionedImages images = parse_caption_table(
      "image_name| comment_number| comment\r\na.jpg| 0| A | B \r\n\r\nb.jpg| 4   A dog\nc.jpg|1|x",
      "t");
  EXPECT_THAT(entries_of(images), ElementsAre("a.jpg: A|B", "c.jpg: x"));
  EXPECT_THAT(images.notes, ElementsAre(HasSubstr("line 4")));
}

TEST(NameList, OneALine) {
  EXPECT_THAT(parse_name_list("a.jpg\r\n\n b c.jpg \nd"), ElementsAre("a.jpg", "b c.jpg", "d"));
  EXPECT_THAT(parse_name_list(""), IsEmpty());
}

}  // namespace
}  // namespace vitascope::datasets
