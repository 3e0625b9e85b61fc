#include "vit/weights/labels.h"

#include <gmock/gmock.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "tests/vit/weights/made_tensors.h"

namespace vitascope::weights {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

std::string write(const std::string& name, const std::string& text) {
  const std::string path = testing::TempDir() + name;
  std::ofstream(path, std::ios::binary) << text;
  return path;
}

TEST(LabelsFromId2label, AreOrderedByNumberNotByText) {
  Json json;
  for (int i = 0; i < 12; ++i) json[std::to_string(i)] = "label " + std::to_string(i);
  const auto labels = labels_from_id2label(json, "config.json");
  ASSERT_EQ(labels.size(), 12u);
  EXPECT_EQ(labels[2], "label 2");
  EXPECT_EQ(labels[9], "label 9");
  EXPECT_EQ(labels[10], "label 10");
}

TEST(LabelsFromId2label, PlaceholdersCountAsNone) {
  EXPECT_THAT(labels_from_id2label({{"0", "LABEL_0"}, {"1", "LABEL_1"}}, "c"), IsEmpty());
  EXPECT_THAT(labels_from_id2label(nullptr, "c"), IsEmpty());
  EXPECT_THAT(labels_from_id2label({{"0", "LABEL_0"}, {"1", "dog"}}, "c"),
              ElementsAre("LABEL_0", "dog"));
}

TEST(LabelsFromId2label, TwoClassesMayHaveOneName) {
  EXPECT_THAT(labels_from_id2label({{"0", "crane"}, {"1", "crane"}}, "c"),
              ElementsAre("crane", "crane"));
}

TEST(LabelsFromId2label, RefusesGapsDuplicatesAndOtherKeys) {
  const auto complaint = [](const Json& json) {
    return input_error([&] { labels_from_id2label(json, "config.json"); });
  };
  EXPECT_EQ(complaint({{"0", "a"}, {"2", "b"}}),
            "config.json: 'id2label' has no class 1, but a class 2: expected numbers without a "
            "gap");
  EXPECT_EQ(complaint({{"1", "a"}, {"01", "b"}}), "config.json: 'id2label' names class 1 twice");
  for (const char* key : {"cat", "-1", "1.5", "", " 1", "99999999999", "1x"}) {
    EXPECT_THAT(complaint({{key, "a"}}), HasSubstr("expected class numbers from 0 on")) << key;
  }
  EXPECT_THAT(complaint({{"0", 3}}), HasSubstr("'id2label' of class 0 is no text"));
  EXPECT_THAT(complaint(Json::array({"a"})), HasSubstr("'id2label' is no JSON object"));
}

TEST(LabelsFromTimm, AreAListOrNumbered) {
  EXPECT_THAT(labels_from_timm({"cat", "dog"}, nullptr, "c"), ElementsAre("cat", "dog"));
  EXPECT_THAT(labels_from_timm({{"1", "dog"}, {"0", "cat"}}, nullptr, "c"),
              ElementsAre("cat", "dog"));
  EXPECT_THAT(labels_from_timm(nullptr, nullptr, "c"), IsEmpty());
  EXPECT_THAT(input_error([] {
                labels_from_timm({"cat", 7}, nullptr, "config.json");
              }),
              HasSubstr("no text at position 1"));
  EXPECT_THAT(input_error([] { labels_from_timm("cat", nullptr, "config.json"); }),
              HasSubstr("neither a list nor a JSON object"));
}

TEST(LabelsFromTimm, WordNetIdsGiveWayToTheirDescriptions) {
  const Json descriptions = {{"n02123045", "tabby"}, {"cat", "a cat, in full"}};
  EXPECT_THAT(labels_from_timm({"n02123045", "n02099601"}, descriptions, "c"),
              ElementsAre("tabby", "n02099601"));
  EXPECT_THAT(labels_from_timm({"cat"}, descriptions, "c"), ElementsAre("cat"));
}

TEST(ReadLabels, TakesOneALineFromAnySystem) {
  const std::string path = write("labels.txt", "\xEF\xBB\xBFtabby cat\r\ngolden retriever\r\n\r\n");
  EXPECT_THAT(read_labels(path, 2), ElementsAre("tabby cat", "golden retriever"));
  EXPECT_THAT(read_labels(write("open.txt", "a\nb"), 2), ElementsAre("a", "b"));
}

TEST(ReadLabels, RefusesAnotherNumberAndEmptyLines) {
  const std::string path = write("three.txt", "a\nb\nc\n");
  EXPECT_EQ(input_error([&] { read_labels(path, 5); }),
            path + ": holds 3 labels, one a line: expected 5, as the model's head has classes");
  const std::string holed = write("holed.txt", "a\n\nc\n");
  EXPECT_EQ(input_error([&] { read_labels(holed, 3); }),
            holed + ": line 2 is empty: expected one label a line");
  EXPECT_THAT(input_error([] { read_labels("/no/such/labels.txt", 1); }),
              HasSubstr("/no/such/labels.txt"));
}

TEST(BuiltInLabels, AreFoundBySizeInTheShareFolder) {
  const std::filesystem::path share = testing::TempDir() + "share";
  std::filesystem::create_directories(share / "labels");
  std::ofstream(share / "labels" / "imagenet-1k.txt") << "tench\ngoldfish\n";
  ASSERT_EQ(setenv("VITASCOPE_SHARE", share.c_str(), 1), 0);
  EXPECT_EQ(share_folder(), share.string());
  EXPECT_EQ(built_in_list(1000), "imagenet-1k");
  EXPECT_EQ(built_in_list(21843), "imagenet-21k");
  EXPECT_EQ(built_in_list(11821), "imagenet-12k");
  EXPECT_EQ(built_in_list(10), "");
  EXPECT_THAT(built_in_labels("imagenet-1k"), ElementsAre("tench", "goldfish"));
  EXPECT_THAT(built_in_labels("imagenet-21k"), IsEmpty());
  unsetenv("VITASCOPE_SHARE");
}

TEST(ShareFolder, LiesBesideTheProgramOrBelowItsPrefix) {
  unsetenv("VITASCOPE_SHARE");
  EXPECT_THAT(share_folder(), testing::MatchesRegex(".*/share(/vitascope)?"));
}

}  // namespace
}  // namespace vitascope::weights
