#include <gmock/gmock.h>

#include <nlohmann/json.hpp>
#include <sstream>

#include "tests/cli/tiny_captions.h"

namespace vitascope::tests {
namespace {

using nlohmann::json;
using testing::HasSubstr;

/// A captioner that knows two photos, trained once.
class CaptionAudit : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    folder_ = new TemporaryFolder;
    const Finished trained = run_program(
        train_tiny_captioner(*folder_, *folder_ / "run", {"--epochs", "60", "--metric", "loss"}));
    ASSERT_EQ(trained.status, 0) << trained.err;
  }
  static void TearDownTestSuite() { delete std::exchange(folder_, nullptr); }

  static Finished caption(const std::vector<std::string>& more,
                          const std::vector<std::string>& photos = {golden("images/rgb.png"),
                                                                    golden("images/gray.jpg")}) {
    std::vector<std::string> all{"caption", "--model", *folder_ / "run", "--audit", "--quiet"};
    all.insert(all.end(), photos.begin(), photos.end());
    all.insert(all.end(), more.begin(), more.end());
    return run_program(all);
  }

  static std::vector<json> lines(const std::string& text) {
    std::vector<json> result;
    std::istringstream stream(text);
    for (std::string line; std::getline(stream, line);) result.push_back(json::parse(line));
    return result;
  }

  /// The wall fills the upper third of its photo, the cup a strip too narrow; of more photos
  /// nothing is known.
  static std::string masks() {
    const json file{{"images",
                     {{{"id", 1}, {"file_name", "rgb.png"}, {"width", 72}, {"height", 81}},
                      {{"id", 2}, {"file_name", "gray.jpg"}, {"width", 119}, {"height", 120}}}},
                    {"categories", {{{"id", 1}, {"name", "wall"}}, {{"id", 2}, {"name", "cup"}}}},
                    {"annotations",
                     {{{"image_id", 1}, {"category_id", 1}, {"bbox", {0, 0, 72, 27}}},
                      {{"image_id", 2}, {"category_id", 2}, {"bbox", {0, 0, 2, 120}}}}}};
    return folder_->write("instances.json", file.dump());
  }

  static TemporaryFolder* folder_;
};

TemporaryFolder* CaptionAudit::folder_ = nullptr;

TEST_F(CaptionAudit, TellsWhatOtherAttentionDoes) {
  const std::vector<std::string> arguments{"--format", "json",           "--masks",
                                           masks(),    "--permutations", "3"};
  const Finished finished = caption(arguments);
  ASSERT_EQ(finished.status, 0) << finished.err;
  const std::vector<json> all = lines(finished.out);
  ASSERT_EQ(all.size(), 3u);
  for (int photo = 0; photo < 2; ++photo) {
    const json& best = all[photo]["captions"][0];
    const json& audit = all[photo]["audit"];
    EXPECT_EQ(audit["permutations"], 3);
    EXPECT_NEAR(audit["own"]["log_prob"].get<double>(),
                best["log_prob"].get<double>() / static_cast<double>(best["words"].size()), 1e-6);
    EXPECT_LE(audit["own"]["entropy"], 1);
    for (const char* kind : {"permuted", "uniform"}) {
      EXPECT_NEAR(audit["own"]["log_prob"].get<double>() - audit[kind]["log_prob"].get<double>(),
                  audit[kind]["cost"].get<double>(), 1e-9);
      EXPECT_GE(audit[kind]["words_differ"], 0);
      EXPECT_LE(audit[kind]["words_differ"], 1);
    }
    EXPECT_EQ(audit["sentences"]["permuted"].size(), 3u);
    EXPECT_FALSE(audit["sentences"]["uniform"].get<std::string>().empty());
    EXPECT_THAT(audit["verdict"][0].get<std::string>(), HasSubstr("For this photo permuted"));
  }
  EXPECT_EQ(all[0]["captions"][0]["text"], "a red wall");
  const json& nouns = all[0]["audit"]["nouns"];
  ASSERT_EQ(nouns.size(), 1u);
  EXPECT_EQ(nouns[0]["word"], "wall");
  EXPECT_NEAR(nouns[0]["uniform"].get<double>(), 1. / 3, 1e-9);
  EXPECT_EQ(all[1]["audit"]["nouns"].size(), 0u);
  EXPECT_EQ(all[1]["audit"]["narrow"], 1);
  const json& population = all[2]["population"];
  EXPECT_EQ(population["photos"], 2);
  EXPECT_EQ(population["nouns"], 1);
  EXPECT_EQ(population["narrow"], 1);
  const double mean = (all[0]["audit"]["permuted"]["cost"].get<double>() +
                       all[1]["audit"]["permuted"]["cost"].get<double>()) /
                      2;
  EXPECT_NEAR(population["permuted"]["cost"]["mean"].get<double>(), mean, 1e-9);
  EXPECT_LE(population["permuted"]["cost"]["low"], population["permuted"]["cost"]["high"]);
  EXPECT_EQ(caption(arguments).out, finished.out);  // permutations are seeded
}

TEST_F(CaptionAudit, SaysItInWordsUnderEachCaption) {
  const Finished finished = caption({});
  ASSERT_EQ(finished.status, 0) << finished.err;
  EXPECT_THAT(finished.out, HasSubstr("rgb.png  a red wall\n"));
  EXPECT_THAT(finished.out, testing::ContainsRegex("own +permuted +even\n"));
  EXPECT_THAT(finished.out, HasSubstr("For this photo permuted attention takes"));
  EXPECT_THAT(finished.out, HasSubstr("2 photos, means\n"));
  EXPECT_THAT(finished.out, HasSubstr("Over 2 photos permuted attention takes"));
  const Finished one = caption({}, {golden("images/rgb.png")});
  EXPECT_THAT(one.out, testing::Not(HasSubstr("means")));
}

TEST_F(CaptionAudit, APhotoThatTheMasksLackIsSkipped) {
  const Finished finished = caption({"--format", "json", "--masks", masks()},
                                    {golden("images/rgb_plain.jpg"), golden("images/rgb.png")});
  EXPECT_EQ(finished.status, 1);
  expect_one_error(finished, {"rgb_plain.jpg: is none of the images of", "instances.json"});
  EXPECT_EQ(lines(finished.out).size(), 1u);
}

TEST_F(CaptionAudit, WhatDoesNotGoTogetherIsOneLine) {
  const struct {
    std::vector<std::string> more;
    std::string says;
  } cases[] = {{{"--format", "csv"}, "--audit has no columns in CSV: expected --format text or"},
               {{"--sample"}, "--audit searches again for the likeliest caption, and --sample"},
               {{"--masks", *folder_ / "none.json"}, "none.json"},
               {{"--permutations", "0"}, "--permutations"}};
  for (const auto& [more, says] : cases) {
    const Finished finished = caption(more);
    EXPECT_EQ(finished.status, 2) << says;
    EXPECT_EQ(finished.out, "") << says;
    expect_one_error(finished, {says});
  }
  const Finished alone = run_program(
      {"caption", golden("images/rgb.png"), "--model", *folder_ / "run", "--masks", masks()});
  EXPECT_EQ(alone.status, 2);
  expect_one_error(alone, {"--masks says what an audit looks at; add --audit"});
}

TEST_F(CaptionAudit, HelpExplainsTheKeys) {
  const Finished finished = run_program({"caption", "--help"});
  for (const char* key : {"words_differ ", "cost ", "entropy ", "inside ", "\"population\""}) {
    EXPECT_THAT(finished.out, HasSubstr(key));
  }
}

}  // namespace
}  // namespace vitascope::tests
