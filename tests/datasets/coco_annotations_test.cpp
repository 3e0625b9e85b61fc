#include "datasets/coco_annotations.h"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include <cmath>

#include "tests/input_error.h"

namespace vitascope::datasets {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::StartsWith;

/// One photo of 4 x 3 pixels with one object.
Json sound() {
  return Json::parse(R"({
    "images": [{"id": 5, "file_name": "a/b.jpg", "width": 4, "height": 3}],
    "categories": [{"id": 9, "name": "dog"}, {"id": 2, "name": "cat"}],
    "annotations": [{"id": 1, "image_id": 5, "category_id": 2, "bbox": [0, 1, 2, 1.5],
                     "iscrowd": 0, "segmentation": [[0, 0, 1, 0, 1, 1]]}]
  })");
}

/// The sound file with the value of one key, given by its JSON pointer, changed.
Json changed(const std::string& key, const Json& value) {
  Json json = sound();
  json[Json::json_pointer(key)] = value;
  return json;
}

Json without(const std::string& list, const std::string& key) {
  Json json = sound();
  json[list][0].erase(key);
  return json;
}

Json with_segmentation(const char* text) {
  return changed("/annotations/0/segmentation", Json::parse(text));
}

CocoInstance instance_of(const Json& json) {
  return parse_coco_annotations(json, "x").photos.at(0).instances.at(0);
}

std::string coco_error(const Json& json) {
  const std::string text = tests::input_error([&] { parse_coco_annotations(json, "x.json"); });
  EXPECT_THAT(text, StartsWith("x.json: "));
  EXPECT_LT(text.size(), 300u);
  return text.substr(text.find(' ') + 1);
}

TEST(CocoAnnotations, ReadsPhotosCategoriesAndObjects) {
  const CocoAnnotations read = parse_coco_annotations(sound(), "x");
  EXPECT_THAT(read.categories, ElementsAre("dog", "cat"));
  ASSERT_EQ(read.photos.size(), 1u);
  EXPECT_EQ(read.photos[0].file_name, "a/b.jpg");
  EXPECT_EQ(read.photos[0].size, (image::Size{4, 3}));
  ASSERT_EQ(read.photos[0].instances.size(), 1u);
  const CocoInstance& instance = read.photos[0].instances[0];
  EXPECT_EQ(instance.category, 1u);
  EXPECT_FALSE(instance.crowd);
  EXPECT_THAT(instance.region.polygons, ElementsAre(ElementsAre(0, 0, 1, 0, 1, 1)));
  EXPECT_TRUE(instance.region.runs.empty());
}

TEST(CocoAnnotations, WithoutASegmentationTheBoxTakesItsPlace) {
  for (const Json& json : {without("annotations", "segmentation"), with_segmentation("[]"),
                           with_segmentation("null")}) {
    EXPECT_THAT(instance_of(json).region.polygons,
                ElementsAre(ElementsAre(0, 1, 2, 1, 2, 2.5, 0, 2.5)));
  }
}

TEST(CocoAnnotations, ReadsRunsOfBothKinds) {
  const Json plain = with_segmentation(R"({"size": [3, 4], "counts": [5, 6, 1]})");
  EXPECT_THAT(instance_of(plain).region.runs, ElementsAre(5, 6, 1));
  EXPECT_TRUE(instance_of(plain).region.polygons.empty());
  const Json packed = with_segmentation(R"({"size": [3, 4], "counts": "561"})");
  EXPECT_THAT(instance_of(packed).region.runs, ElementsAre(5, 6, 1));
}

TEST(CocoAnnotations, WhatIsNotNeededMayBeMissing) {
  EXPECT_TRUE(instance_of(changed("/annotations/0/iscrowd", 1)).crowd);
  for (const char* key : {"id", "iscrowd", "bbox"}) {
    EXPECT_FALSE(instance_of(without("annotations", key)).crowd) << key;
  }
}

TEST(CocoAnnotations, NamesTheKeyThatIsMissingOrOfAnotherKind) {
  for (const char* list : {"images", "categories", "annotations"}) {
    Json json = sound();
    json.erase(list);
    EXPECT_EQ(coco_error(json), fmt::format("'{}' is missing: expected a list", list));
    json[list] = Json::array({3});
    EXPECT_EQ(coco_error(json), fmt::format("'{}[0]' is 3: expected a JSON object", list));
  }
  for (const char* key : {"id", "file_name", "width", "height"}) {
    EXPECT_THAT(coco_error(without("images", key)),
                StartsWith(fmt::format("'images[0].{}' is missing: expected", key)));
  }
  for (const char* key : {"id", "name"}) {
    EXPECT_THAT(coco_error(without("categories", key)),
                StartsWith(fmt::format("'categories[0].{}' is missing: expected", key)));
  }
  for (const char* key : {"image_id", "category_id"}) {
    EXPECT_THAT(coco_error(without("annotations", key)),
                StartsWith(fmt::format("'annotations[0].{}' is missing: expected", key)));
  }
  Json no_shape = without("annotations", "bbox");
  no_shape["annotations"][0].erase("segmentation");
  EXPECT_THAT(coco_error(no_shape),
              StartsWith("'annotations[0].bbox' is missing: expected [x, y,"));
  EXPECT_THAT(coco_error(Json::array()), HasSubstr("expected a JSON object"));
  EXPECT_EQ(coco_error(changed("/images/0/id", "5")),
            "'images[0].id' is \"5\": expected a whole number");
  EXPECT_THAT(coco_error(changed("/annotations/0/iscrowd", 2)), HasSubstr("0 to 1"));
}

TEST(CocoAnnotations, RefusesUnknownIdsAndIdsThatStandTwice) {
  EXPECT_EQ(coco_error(changed("/annotations/0/image_id", 6)),
            "'annotations[0].image_id' is 6: expected an id that stands in 'images'");
  EXPECT_EQ(coco_error(changed("/annotations/0/category_id", 7)),
            "'annotations[0].category_id' is 7: expected an id that stands in 'categories'");
  EXPECT_EQ(coco_error(changed("/categories/1/id", 9)),
            "'categories[1].id' is 9: expected an id that no entry before it has");
  for (const char* list : {"images", "annotations"}) {
    Json json = sound();
    json[list].push_back(Json(json[list][0]));
    EXPECT_THAT(coco_error(json), StartsWith(fmt::format("'{}[1].id' is ", list)));
  }
}

TEST(CocoAnnotations, RefusesPhotosOfAbsurdSize) {
  for (const Json& side : {Json(0), Json(-4), Json(1'000'001), Json(1e300), Json(4.5)}) {
    EXPECT_THAT(coco_error(changed("/images/0/width", side)), HasSubstr("1 to 1000000"));
    EXPECT_THAT(coco_error(changed("/images/0/height", side)), HasSubstr("1 to 1000000"));
  }
}

TEST(CocoAnnotations, RefusesPolygonsThatAreNone) {
  EXPECT_EQ(coco_error(with_segmentation("[[0, 0, 1, 0, 1, 1], [0, 0, 1, 1]]")),
            "'annotations[0].segmentation' is [[0,0,1,0,1,1],[0,0,1,1]]: expected polygons [x, y, "
            "x, y, ...] of three corners or more, no number beyond 1000000; polygon 1 has 4 "
            "numbers");
  EXPECT_THAT(coco_error(with_segmentation("[[0, 0, 1, 0, 1, 1, 2]]")),
              HasSubstr("polygon 0 has 7 numbers"));
  EXPECT_THAT(coco_error(with_segmentation("[[]]")), HasSubstr("polygon 0 has 0 numbers"));
  EXPECT_THAT(coco_error(with_segmentation("[0, 0, 1, 0, 1, 1]")),
              HasSubstr("polygon 0 has no list of numbers"));
  for (const char* number : {"null", "\"1\"", "1e7", "-1e300", "[1]", "true"}) {
    const std::string text = fmt::format("[[0, 0, 1, {}, 1, 1]]", number);
    EXPECT_THAT(coco_error(with_segmentation(text.c_str())),
                HasSubstr("polygon 0 has something else as number 3"));
  }
  EXPECT_THAT(coco_error(changed("/annotations/0/segmentation/0/2", std::nan(""))),
              HasSubstr("something else as number 2"));
  EXPECT_THAT(coco_error(with_segmentation("7")), HasSubstr("expected a list of polygons, or"));
}

TEST(CocoAnnotations, RefusesBoxesThatAreNone) {
  for (const char* box : {"[0, 0, 1]", "[0, 0, 1, 1, 1]", "[0, 0, -1, 1]", "[0, 0, 1, -0.1]",
                          "[0, 0, 1, null]", "[0, 0, 1e9, 1]", "{}", "[-2e6, 0, 1, 1]"}) {
    Json json = with_segmentation("[]");
    json["annotations"][0]["bbox"] = Json::parse(box);
    EXPECT_THAT(coco_error(json), HasSubstr("expected [x, y, width, height]")) << box;
  }
}

TEST(CocoAnnotations, RefusesRunsThatDoNotFillThePhoto) {
  EXPECT_EQ(coco_error(with_segmentation(R"({"size": [3, 4], "counts": [5, 6]})")),
            "'annotations[0].segmentation.counts' is [5,6]: expected runs that add up to 4 x 3 = "
            "12 pixels; these give 11");
  EXPECT_THAT(coco_error(with_segmentation(R"({"size": [3, 4], "counts": [5, 8, 9]})")),
              HasSubstr("these give at least 13"));
  EXPECT_THAT(coco_error(with_segmentation(R"({"size": [3, 4], "counts": []})")),
              HasSubstr("these give 0"));
  EXPECT_THAT(coco_error(with_segmentation(R"({"size": [3, 4], "counts": "56"})")),
              HasSubstr("these give 11"));
  EXPECT_THAT(coco_error(with_segmentation(R"({"size": [3, 4], "counts": "5P"})")),
              HasSubstr("expected compressed runs; this text is damaged"));
  for (const char* count : {"-1", "13", "1e3", "2.5", "null", "18446744073709551615"}) {
    const std::string text = fmt::format(R"({{"size": [3, 4], "counts": [1, {}]}})", count);
    EXPECT_THAT(coco_error(with_segmentation(text.c_str())),
                HasSubstr("expected whole numbers, 0 to 12; number 1 is not"));
  }
  EXPECT_THAT(coco_error(with_segmentation(R"({"size": [4, 3], "counts": [12]})")),
              HasSubstr("expected [3, 4], the height and width of the image"));
  EXPECT_THAT(coco_error(with_segmentation(R"({"counts": [12]})")), HasSubstr("size' is missing"));
  EXPECT_THAT(coco_error(with_segmentation(R"({"size": [3, 4]})")),
              HasSubstr("counts' is missing"));
}

}  // namespace
}  // namespace vitascope::datasets
