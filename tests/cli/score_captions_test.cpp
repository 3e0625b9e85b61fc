#include <gmock/gmock.h>

#include <nlohmann/json.hpp>

#include "tests/cli/run_program.h"
#include "tests/golden.h"

namespace vitascope::tests {
namespace {

using nlohmann::json;
using testing::HasSubstr;

/// What coco-caption says of a corpus of tests/golden/caption_metrics.
json expected_of(const std::string& name) {
  static const json golden_captions =
      json::parse(file_text(golden("caption_metrics/captions.json")));
  for (const json& corpus : golden_captions["corpora"])
    if (corpus["name"] == name) return corpus;
  throw std::out_of_range(name);
}

/// The files of the golden captions, and of some of their images.
struct Files {
  TemporaryFolder folder;
  json results = json::array();
  json references = {{"images", json::array()}, {"annotations", json::array()}};

  explicit Files(const std::string& corpus) {
    const json all = json::parse(file_text(golden("caption_metrics/captions.json")));
    const json expected = expected_of(corpus);
    for (const json& id : expected["ids"])
      for (const json& image : all["images"])
        if (image["id"] == id) add(image);
  }

  void add(const json& image) {
    const int number = std::stoi(image["id"].get<std::string>().substr(3));
    results.push_back({{"image_id", number}, {"caption", image["candidate"]}});
    references["images"].push_back({{"id", number}, {"file_name", image["id"]}});
    for (const json& reference : image["references"])
      references["annotations"].push_back({{"image_id", number}, {"caption", reference}});
  }

  std::vector<std::string> arguments(std::vector<std::string> more = {}) const {
    std::vector<std::string> all{"score-captions", folder.write("results.json", results.dump()),
                                 "--references", folder.write("captions.json", references.dump())};
    all.insert(all.end(), more.begin(), more.end());
    return all;
  }
};

void expect_near(const json& actual, const json& expected) {
  ASSERT_EQ(actual.size(), expected.size());
  for (std::size_t i = 0; i < actual.size(); ++i)
    EXPECT_NEAR(actual[i].get<double>(), expected[i].get<double>(), 1e-6);
}

void expect_scores(const json& actual, const json& expected) {
  expect_near(actual["bleu"], expected["bleu"]);
  expect_near(actual["bleu_unsmoothed"], expected["bleu_unsmoothed"]);
  expect_near(json{actual["rouge_l"], actual["cider_d"]},
              json{expected["rouge_l"], expected["cider_d"]});
  EXPECT_EQ(actual["matches"], expected["matches"]);
  EXPECT_EQ(actual["totals"], expected["totals"]);
  EXPECT_EQ(actual["candidate_length"], expected["candidate_length"]);
  EXPECT_EQ(actual["reference_length"], expected["closest_reference_length"]);
}

TEST(ScoreCaptions, JsonHasTheFiguresOfCocoCaption) {
  const Files files("all");
  const Finished finished = run_program(files.arguments({"--format", "json"}));
  ASSERT_EQ(finished.status, 0) << finished.err;
  EXPECT_EQ(finished.err, "");
  const json report = json::parse(finished.out), expected = expected_of("all");
  expect_scores(report, expected["corpus"]);
  ASSERT_EQ(report["images"].size(), 12u);
  for (std::size_t i = 0; i < 12; ++i) expect_scores(report["images"][i], expected["per_image"][i]);
  EXPECT_EQ(report["photos"], 12);
  EXPECT_EQ(report["reference_captions"], 60);
  EXPECT_EQ(report["tokenisation"], "vt-simple-1");
  EXPECT_EQ(report["frequencies"]["photos"], 12);
}

TEST(ScoreCaptions, TextSaysHowWordsAreCut) {
  const Files files("all");
  const Finished finished = run_program(files.arguments());
  ASSERT_EQ(finished.status, 0) << finished.err;
  for (const char* part : {"BLEU-1    0.7685\n", "BLEU-4    0.4878\n", "ROUGE-L   0.5355\n",
                           "CIDEr-D   1.2377 ", "vt-simple-1", "12 photos, 60 references"})
    EXPECT_THAT(finished.out, HasSubstr(part));
}

TEST(ScoreCaptions, CsvHasALineAPhoto) {
  const Files files("all");
  const Finished finished =
      run_program(files.arguments({"--format", "csv", "--output", files.folder / "scores.csv"}));
  ASSERT_EQ(finished.status, 0) << finished.err;
  EXPECT_EQ(finished.out, "");
  const std::string text = file_text(files.folder / "scores.csv");
  EXPECT_THAT(text, HasSubstr("\nall,,0.768519,0.677884,"));
  EXPECT_THAT(text, HasSubstr("\nphoto,1,1,0.894427,"));
  EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 14);
  const Finished again = run_program(files.arguments({"--output", files.folder / "scores.csv"}));
  EXPECT_EQ(again.status, 2);
  expect_one_error(again, {"scores.csv", "--force"});
}

/// What `caption` printed is scored as it is; its photos are known by the names of their files.
TEST(ScoreCaptions, ResultsMayBeTheLinesOfCaption) {
  const TemporaryFolder folder;
  const std::string references = folder.write(
      "captions.txt", "image,caption\na.jpg,a red wall\nb.jpg,a gray cup\nb.jpg,one cup\n");
  const std::string results = folder.write(
      "said.json", R"({"path":"photos/a.jpg","captions":[{"text":"a red cup"}]})"
                   "\n"
                   R"({"path":"photos/b.jpg","captions":[{"text":"one cup"},{"text":"x"}]})"
                   "\n");
  const Finished finished =
      run_program({"score-captions", results, "--references", references, "--format", "json"});
  ASSERT_EQ(finished.status, 0) << finished.err;
  const json scores = json::parse(finished.out);
  EXPECT_EQ(scores["photos"], 2);
  EXPECT_EQ(scores["exact"], 0.5);
  EXPECT_EQ(scores["images"][0]["exact"], 0);
  EXPECT_EQ(scores["images"][1]["exact"], 1);
  EXPECT_EQ(scores["totals"][0], 5);
}

TEST(ScoreCaptions, CiderOfAFewPhotosIsRefused) {
  const Files files("single_image");
  const Finished text = run_program(files.arguments());
  EXPECT_EQ(text.status, 0);
  EXPECT_THAT(text.out, HasSubstr("means nothing with document frequencies of 1 photos"));
  const Finished finished = run_program(files.arguments({"--format", "json"}));
  EXPECT_TRUE(json::parse(finished.out)["cider_d"].is_null());
  EXPECT_THAT(finished.err, HasSubstr("no CIDEr-D"));
}

TEST(ScoreCaptions, CiderTakesTheFrequenciesOfALargerSet) {
  const Files one("single_image"), all("all");
  const std::string larger = one.folder.write("larger.json", all.references.dump());
  const Finished finished =
      run_program(one.arguments({"--frequencies", larger, "--format", "json"}));
  const json report = json::parse(finished.out);
  expect_scores(report["images"][0], expected_of("all")["per_image"][0]);
  EXPECT_EQ(report["frequencies"]["file"], larger);
}

TEST(ScoreCaptions, SidesThatDifferAreAnErrorUnlessASubsetIsWanted) {
  Files files("all");
  files.results.erase(2);
  const Finished fewer = run_program(files.arguments());
  EXPECT_EQ(fewer.status, 2);
  expect_one_error(fewer, {"results.json: has no caption for 1 photos", ": 3; --subset"});
  files.results.push_back({{"image_id", 99}, {"caption", "x"}});
  const Finished more = run_program(files.arguments());
  EXPECT_EQ(more.status, 2);
  expect_one_error(more, {"1 captions are of photos that", ": 99; --subset"});
  const Finished subset = run_program(files.arguments({"--subset", "--format", "json"}));
  EXPECT_EQ(subset.status, 0) << subset.err;
  EXPECT_THAT(subset.err, HasSubstr("left out: 1 captions without references, 1 photos"));
  const json report = json::parse(subset.out);
  EXPECT_EQ(report["photos"], 11);
  EXPECT_EQ(report["without_references"], 1);
  EXPECT_EQ(report["without_caption"], 1);
  files.results = json::array({{{"image_id", 99}, {"caption", "x"}}});
  EXPECT_EQ(run_program(files.arguments({"--subset"})).status, 2);
}

TEST(ScoreCaptions, ReferencesMayBeText) {
  const TemporaryFolder folder;
  const Finished finished = run_program(
      {"score-captions", folder.write("r.json", R"([{"image_id": "a.jpg", "caption": "A dog"}])"),
       "--references", folder.write("t.txt", "d/a.jpg#0\ta dog!\nd/a.jpg#1\t\n")});
  EXPECT_EQ(finished.status, 0) << finished.err;
  EXPECT_THAT(finished.err, HasSubstr("1 empty captions are left out"));
  EXPECT_THAT(finished.out, HasSubstr("ROUGE-L   1.0000"));
}

TEST(ScoreCaptions, WhatCannotBeReadIsNamed) {
  const TemporaryFolder folder;
  const Files files("single_image");
  const std::string results = files.arguments()[1], references = files.arguments()[3];
  const struct {
    std::vector<std::string> arguments;
    std::vector<std::string> parts;
  } cases[] = {
      {{}, {"no captions to score"}},
      {{results}, {"--references"}},
      {{folder / "none", "--references", references}, {"none"}},
      {{references, "--references", references}, {"captions.json", "expected COCO's results"}},
      {{results, "--references", results}, {"results.json", "expected a JSON object"}},
      {{folder.write("e.json", "[]"), "--references", references}, {"e.json", "holds no captions"}},
      {{folder.write("b.json", "[{]"), "--references", references}, {"b.json", "not JSON"}},
  };
  for (const auto& each : cases) {
    std::vector<std::string> arguments{"score-captions"};
    arguments.insert(arguments.end(), each.arguments.begin(), each.arguments.end());
    const Finished finished = run_program(arguments);
    EXPECT_EQ(finished.status, 2);
    EXPECT_EQ(finished.out, "");
    expect_one_error(finished, each.parts);
  }
}

}  // namespace
}  // namespace vitascope::tests
