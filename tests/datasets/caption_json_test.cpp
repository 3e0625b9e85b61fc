#include "datasets/caption_json.h"

#include <gmock/gmock.h>

#include "tests/input_error.h"

namespace vitascope::datasets {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::SizeIs;

std::string json_error(const char* json) {
  return tests::input_error([&] { parse_caption_json(Json::parse(json), "c.json"); });
}

std::string result_error(const char* json) {
  return tests::input_error([&] { parse_caption_results(json, "r.json"); });
}

TEST(CaptionJson, CocoHasItsIds) {
  const CaptionedImages images = parse_caption_json(Json::parse(R"({
    "info": {}, "images": [{"id": 12345678901, "file_name": "x/a.jpg"}, {"id": "b", "file_name": "b"}],
    "annotations": [{"id": 1, "image_id": 12345678901, "caption": ""}]})"),
                                                    "c.json");
  ASSERT_THAT(images.photos, SizeIs(2));
  EXPECT_EQ(images.photos[0].id, "12345678901");
  EXPECT_EQ(images.photos[0].path, "x/a.jpg");
  EXPECT_THAT(images.photos[0].captions, ElementsAre(""));
  EXPECT_EQ(images.photos[1].id, "b");
  EXPECT_THAT(images.photos[1].captions, SizeIs(0));
}

TEST(CaptionJson, KarpathyHasSplits) {
  const CaptionedImages images = parse_caption_json(Json::parse(R"({"dataset": "coco", "images": [
    {"filepath": "val2014", "filename": "a.jpg", "cocoid": 9, "split": "restval", "sentences": []},
    {"filename": "b.jpg", "split": "train", "sentences": [{"raw": "x", "tokens": ["y"]}]},
    {"filename": "c.jpg", "split": "val", "sentences": []},
    {"filename": "d.jpg", "split": "test", "sentences": []},
    {"filename": "e.jpg", "sentences": []}]})"),
                                                    "c.json");
  std::vector<Split> splits;
  for (const CaptionedImage& photo : images.photos) splits.push_back(photo.split);
  EXPECT_THAT(splits,
              ElementsAre(Split::train, Split::train, Split::validation, Split::test, Split::none));
  EXPECT_EQ(images.photos[0].path, "val2014/a.jpg");
  EXPECT_EQ(images.photos[0].id, "9");
  EXPECT_EQ(images.photos[1].id, "b.jpg");
  EXPECT_THAT(images.photos[1].captions, ElementsAre("x"));
  EXPECT_THAT(images.notes, ElementsAre(HasSubstr("1 photos of the split 'restval'")));
}

TEST(CaptionJson, WhatIsMissingOrOfAnotherKindIsNamed) {
  const struct {
    const char* json;
    const char* part;
  } cases[] = {
      {R"({"images": []})", "'annotations' is missing: expected a list"},
      {R"({"annotations": []})", "'images' is missing"},
      {R"({"images": [3], "annotations": []})", "'images[0]' is 3"},
      {R"({"images": [{"id": 1}], "annotations": []})", "'images[0].file_name' is missing"},
      {R"({"images": [{"id": 1.5, "file_name": "a"}], "annotations": []})",
       "'images[0].id' is 1.5"},
      {R"({"images": [{"id": 1, "file_name": "a"}, {"id": 1, "file_name": "b"}], "annotations": []})",
       "'images[1].id' is 1"},
      {R"({"images": [], "annotations": [{"image_id": 1, "caption": "x"}]})",
       "'annotations[0].image_id' is 1: expected an id that stands in 'images'"},
      {R"({"images": [{"id": 1, "file_name": "a"}], "annotations": [{"image_id": 1, "bbox": []}]})",
       "'annotations[0].caption' is missing"},
      {R"({"images": [{"filename": "a", "sentences": 1}]})", "'images[0].sentences' is 1"},
      {R"({"images": [{"filename": "a", "sentences": [{}]}]})",
       "'images[0].sentences[0].raw' is missing"},
      {R"({"images": [{"filename": "a", "sentences": [{"tokens": [1]}]}]})",
       "'images[0].sentences[0].tokens'"},
      {R"({"images": [{"filename": "a", "split": "dev", "sentences": []}]})",
       "'images[0].split' is \"dev\""},
  };
  for (const auto& each : cases)
    EXPECT_THAT(json_error(each.json), AllOf(HasSubstr("c.json: "), HasSubstr(each.part)))
        << each.json;
}

TEST(CaptionResults, HaveNumbersOrNames) {
  const auto results = parse_caption_results(
      R"([{"image_id": 3, "caption": "x", "score": 1}, {"image_id": "a.jpg", "caption": ""}])",
      "r.json");
  ASSERT_THAT(results, SizeIs(2));
  EXPECT_EQ(results[0].id, "3");
  EXPECT_EQ(results[0].caption, "x");
  EXPECT_EQ(results[1].id, "a.jpg");
}

TEST(CaptionResults, MayBeTheLinesOfCaption) {
  const auto results = parse_caption_results(
      "{\"path\": \"x/a.jpg\", \"captions\": [{\"text\": \"one\"}, {\"text\": \"two\"}]}\n\n"
      "{\"path\": \"b.jpg\", \"captions\": [{\"text\": \"three\"}]}\n",
      "r.json");
  ASSERT_THAT(results, SizeIs(2));
  EXPECT_EQ(results[0].id, "a.jpg");
  EXPECT_EQ(results[0].caption, "one");
  EXPECT_EQ(results[1].id, "b.jpg");
  EXPECT_EQ(results[1].caption, "three");
  EXPECT_THAT(
      result_error("{\"path\": \"a\", \"captions\": [{\"text\": \"x\"}]}\n{\"path\": \"b\"}"),
      HasSubstr("r.json, line 2: 'captions' is missing"));
  EXPECT_THAT(result_error(R"({"path": "a", "captions": []})"), HasSubstr("a list of captions"));
  EXPECT_THAT(result_error("{\"path\": \"a\", \"captions\": [{\"text\": \"x\"}]}\n"
                           "{\"path\": \"y/a\", \"captions\": [{\"text\": \"x\"}]}"),
              HasSubstr("one caption for each image"));
}

TEST(CaptionResults, WhatIsWrongIsNamed) {
  EXPECT_THAT(result_error("3"), HasSubstr("expected COCO's results"));
  EXPECT_THAT(result_error("[3]"), HasSubstr("'[0]' is 3"));
  EXPECT_THAT(result_error(R"([{"image_id": 1}])"), HasSubstr("'[0].caption' is missing"));
  EXPECT_THAT(result_error(R"([{"caption": "x"}])"), HasSubstr("'[0].image_id' is missing"));
  EXPECT_THAT(result_error(R"([{"image_id": 1, "caption": "x"}, {"image_id": 1, "caption": "y"}])"),
              HasSubstr("'[1].image_id' is 1: expected one caption for each image"));
}

}  // namespace
}  // namespace vitascope::datasets
