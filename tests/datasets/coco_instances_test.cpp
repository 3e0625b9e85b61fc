#include "datasets/coco_instances.h"

#include <ATen/ATen.h>
#include <fmt/format.h>
#include <gmock/gmock.h>

#include "tests/golden.h"
#include "tests/input_error.h"
#include "vit/image/decode.h"

namespace vitascope::datasets {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using tests::golden;
using tests::input_error;

/// Two columns of a photo of 4 x 2 are a dog, another is a cat, and there is a crowd of dogs.
const Json kFile = Json::parse(R"({
  "images": [{"id": 1, "file_name": "train/a.jpg", "width": 4, "height": 2},
             {"id": 2, "file_name": "train/b.jpg", "width": 4, "height": 2},
             {"id": 3, "file_name": "val/b.jpg", "width": 4, "height": 2},
             {"id": 4, "file_name": "empty.jpg", "width": 640, "height": 427}],
  "categories": [{"id": 1, "name": "cat"}, {"id": 2, "name": "dog"}, {"id": 3, "name": "cow"}],
  "annotations": [{"image_id": 1, "category_id": 2, "bbox": [0, 0, 1, 2]},
                  {"image_id": 1, "category_id": 1, "bbox": [1, 0, 1, 1]},
                  {"image_id": 1, "category_id": 2, "bbox": [2, 0, 1, 1]},
                  {"image_id": 1, "category_id": 3, "bbox": [0, 0, 4, 2], "iscrowd": 1}]
})");

CocoInstances instances() { return {parse_coco_annotations(kFile, "x.json"), "x.json"}; }

/// The mask row by row.
std::string shown(const at::Tensor& mask) {
  EXPECT_EQ(mask.scalar_type(), at::kBool);
  std::string text;
  for (std::int64_t row = 0; row < mask.size(0); ++row) {
    for (std::int64_t column = 0; column < mask.size(1); ++column) {
      text += mask[row][column].item<bool>() ? '#' : '.';
    }
    text += '\n';
  }
  return text;
}

TEST(CocoInstances, AMaskIsTheUnionOfTheObjects) {
  const CocoInstances found = instances();
  EXPECT_EQ(shown(found.mask("elsewhere/a.jpg", {4, 2})), "###.\n#...\n");
  EXPECT_EQ(shown(found.mask("a.jpg", {4, 2}, {.category = "dog"})), "#.#.\n#...\n");
  EXPECT_EQ(shown(found.mask("a.jpg", {4, 2}, {.category = "cow"})), "....\n....\n");
  EXPECT_EQ(shown(found.mask("a.jpg", {4, 2}, {.crowds = true})), "####\n####\n");
  EXPECT_EQ(shown(found.mask("a.jpg", {4, 2}, {.category = "cat", .crowds = true})),
            ".#..\n....\n");
}

TEST(CocoInstances, EachObjectHasABox) {
  const CocoInstances found = instances();
  const auto boxes = [&](image::Size size, const MaskChoice& choice) {
    std::vector<std::vector<double>> result;
    for (const image::Rectangle& box : found.boxes("a.jpg", size, choice)) {
      result.push_back({box.left, box.top, box.right, box.bottom});
    }
    return result;
  };
  EXPECT_THAT(boxes({4, 2}, {.category = "dog"}),
              ElementsAre(ElementsAre(0, 0, 1, 2), ElementsAre(2, 0, 3, 1)));
  EXPECT_THAT(boxes({8, 4}, {.category = "cat"}), ElementsAre(ElementsAre(2, 0, 4, 2)));
  EXPECT_THAT(boxes({4, 2}, {.category = "cow"}), IsEmpty());
}

TEST(CocoInstances, SaysWhichCategoriesAPhotoHas) {
  const CocoInstances found = instances();
  EXPECT_THAT(found.categories(), ElementsAre("cat", "dog", "cow"));
  EXPECT_THAT(found.categories("a.jpg"), ElementsAre("cat", "dog"));
  EXPECT_THAT(found.categories("empty.jpg"), IsEmpty());
  EXPECT_THAT(found.categories("unknown.jpg"), IsEmpty());
}

TEST(CocoInstances, FindsAPhotoByTheLastPartOfItsPath) {
  const CocoInstances found = instances();
  ASSERT_NE(found.find("/photos/a.jpg"), nullptr);
  EXPECT_EQ(found.find("/photos/a.jpg")->file_name, "train/a.jpg");
  EXPECT_EQ(found.find("a.png"), nullptr);
  EXPECT_EQ(input_error([&] {
              found.mask("p/c.jpg", {4, 2});
            }),
            "p/c.jpg: is none of the 4 images of x.json");
  EXPECT_EQ(input_error([&] { found.find("p/b.jpg"); }),
            "p/b.jpg: could be 'train/b.jpg' or 'val/b.jpg' of x.json: expected one image of that "
            "name");
}

TEST(CocoInstances, ACategoryThatTheFileLacksIsTheCallersMistake) {
  try {
    instances().mask("a.jpg", {4, 2}, {.category = "cats"});
    ADD_FAILURE() << "no UsageError";
  } catch (const UsageError& error) {
    EXPECT_STREQ(error.what(), "x.json has no category 'cats'; did you mean 'cat'?");
  }
}

TEST(CocoInstances, APhotoOfAnotherSizeNeedsTheSameAspect) {
  const CocoInstances found = instances();
  EXPECT_EQ(shown(found.mask("a.jpg", {8, 4})), "######..\n######..\n##......\n##......\n");
  for (const image::Size size : {image::Size{320, 213}, {320, 214}, {1280, 854}, {384, 256}}) {
    EXPECT_EQ(found.mask("empty.jpg", size).sizes(), (at::IntArrayRef{size.height, size.width}));
  }
  for (const image::Size size : {image::Size{427, 640}, {320, 217}, {320, 211}, {640, 640}}) {
    EXPECT_EQ(input_error([&] { found.mask("empty.jpg", size); }),
              fmt::format("empty.jpg: has {} x {} pixels, but was annotated at 640 x 427 in "
                          "x.json: expected the same aspect ratio",
                          size.width, size.height));
  }
}

TEST(CocoInstances, ReadsAFileWithinBounds) {
  EXPECT_THAT(input_error([] { read_coco_instances("no such file.json"); }),
              testing::StartsWith("no such file.json: "));
  EXPECT_THAT(input_error([] { read_coco_instances(golden("instances/star_60.png")); }),
              testing::HasSubstr("not JSON"));
}

/// Polygons at least .95 of pycocotools' masks, runs the same pixels.
TEST(CocoInstances, MasksArePycocotools) {
  const CocoInstances found = read_coco_instances(golden("instances/annotations.json"));
  int exact = 0, near = 0;
  for (const Json& entry : read_json(golden("instances/expected.json"))) {
    const std::string file = entry["mask"];
    const image::Picture picture = image::decode(golden("instances/" + file));
    const at::Tensor expected = at::tensor(at::ArrayRef<std::uint8_t>(picture.rgb))
                                    .view({picture.size.height, picture.size.width, 3})
                                    .select(2, 0)
                                    .gt(127);
    const at::Tensor mask = found.mask(entry["photo"], picture.size,
                                       {.category = entry["category"].get<std::string>()});
    if (entry["exact"]) {
      EXPECT_TRUE(mask.equal(expected)) << file;
      ++exact;
      continue;
    }
    const double both = (mask & expected).sum().item<double>();
    const double any = (mask | expected).sum().item<double>();
    EXPECT_GE(both / any, 0.95) << file;
    ++near;
  }
  EXPECT_EQ(exact, 12);
  EXPECT_EQ(near, 13);
}

}  // namespace
}  // namespace vitascope::datasets
