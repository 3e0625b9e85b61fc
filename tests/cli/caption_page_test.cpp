#include <gmock/gmock.h>

#include <filesystem>
#include <nlohmann/json.hpp>
#include <regex>
#include <set>

#include "tests/cli/tiny_captions.h"

namespace vitascope::tests {
namespace {

using testing::HasSubstr;

/// A captioner that has hardly learned, one of whose words is a script.
std::string hostile_captioner(const TemporaryFolder& folder,
                              const std::vector<std::string>& more = {}) {
  std::string run = folder / "run";
  std::vector<std::string> options{"--epochs", "1", "--metric", "loss"};
  options.insert(options.end(), more.begin(), more.end());
  const Finished trained = run_program(train_tiny_captioner(folder, run, options));
  EXPECT_EQ(trained.status, 0) << trained.err;
  nlohmann::json vocabulary = nlohmann::json::parse(file_text(run + "/vocabulary.json"));
  for (auto& word : vocabulary["words"]) {
    if (!word.get<std::string>().starts_with("<")) {
      word = "<script>alert('" + word.get<std::string>() + "')</script>";
    }
  }
  folder.write("run/vocabulary.json", vocabulary.dump());
  return run;
}

nlohmann::json data_of(const std::string& page) {
  const std::string opening = "<script type=\"application/json\" id=\"report\">";
  const std::size_t begin = page.find(opening) + opening.size();
  return nlohmann::json::parse(page.substr(begin, page.find("</script>", begin) - begin));
}

TEST(CaptionHtml, OnePageOfAllPhotosWithEveryTextEscaped) {
  const TemporaryFolder folder;
  const std::string run = hostile_captioner(folder);
  // A slash can stand in no name, but the last folder is shown too.
  std::filesystem::create_directories(folder / "<script>alert(1)<");
  const std::string photo = folder / "<script>alert(1)</script>.jpg";
  std::filesystem::copy_file(golden("images/gray.jpg"), photo);
  const std::string html = folder / "page.html";
  const Finished said =
      run_program({"caption", photo, golden("images/rgb.png"), golden("images/none.png"), "--model",
                   run, "--format", "json", "--best", "2", "--html", html});
  EXPECT_EQ(said.status, 1) << said.err;  // one photo is not there
  EXPECT_THAT(said.err, HasSubstr("page.html: 2 photos, "));

  const std::string page = file_text(html);
  const std::regex script("<script");
  EXPECT_EQ(std::distance(std::sregex_iterator(page.begin(), page.end(), script), {}), 2);
  const nlohmann::json data = data_of(page);
  EXPECT_EQ(data["title"], "Where the words looked: 2 photos");
  EXPECT_EQ(data["photos"][0]["name"], "<script>alert(1)</script>.jpg");
  EXPECT_EQ(data["photos"][1]["name"], "images/rgb.png");
  // What the page says is what was printed.
  std::istringstream lines(said.out);
  std::string line;
  for (std::size_t i = 0; std::getline(lines, line); ++i) {
    const nlohmann::json printed = nlohmann::json::parse(line);
    const nlohmann::json& shown = data["photos"][i];
    EXPECT_EQ(shown["size"], (nlohmann::json{printed["width"], printed["height"]}));
    EXPECT_EQ(data["grid"], printed["grid"]);
    ASSERT_EQ(shown["captions"].size(), 2u);
    for (std::size_t c = 0; c < 2; ++c) {
      EXPECT_EQ(shown["captions"][c]["text"], printed["captions"][c]["text"]);
      const nlohmann::json& words = printed["captions"][c]["words"];
      ASSERT_EQ(shown["captions"][c]["words"].size(), words.size());
      for (std::size_t w = 0; w < words.size(); ++w) {
        EXPECT_EQ(shown["captions"][c]["words"][w]["text"], words[w]["word"]);
        EXPECT_FALSE(shown["captions"][c]["words"][w].contains("place"));
        EXPECT_EQ(shown["captions"][c]["maps"]["high"][w].get<float>(),
                  words[w]["weight"].get<float>());
      }
    }
    EXPECT_THAT(shown["captions"][0]["words"][0]["text"].get<std::string>(),
                testing::StartsWith("<script>alert("));
  }
}

TEST(CaptionHtml, HardAttentionSaysThePlaceThatWasDrawn) {
  const TemporaryFolder folder;
  const std::string run = hostile_captioner(folder, {"--attention-type", "hard"});
  const std::string html = folder / "page.html";
  const Finished said = run_program({"caption", golden("images/rgb.png"), "--model", run, "--html",
                                     html, "--sample", "--best", "4", "--quiet"});
  ASSERT_EQ(said.status, 0) << said.err;
  EXPECT_EQ(said.err, "");
  const nlohmann::json data = data_of(file_text(html));
  EXPECT_THAT(data["notes"][0].get<std::string>(), HasSubstr("Attention is hard"));
  std::set<int> places;
  for (const auto& caption : data["photos"][0]["captions"]) {
    for (const auto& word : caption["words"]) places.insert(word["place"].get<int>());
  }
  EXPECT_GT(places.size(), 1u);  // after one epoch every place is about as likely
}

TEST(CaptionHtml, WhatStandsInTheWayIsSaidBeforeTheModelIsOpened) {
  const TemporaryFolder folder;
  const std::string page = folder.write("page.html", "mine");
  const std::string photo = golden("images/rgb.png");
  const auto refused = [&](std::vector<std::string> arguments, const std::string& part) {
    arguments.insert(arguments.end(), {"--model", folder / "none"});
    const Finished finished = run_program(std::move(arguments));
    EXPECT_EQ(finished.status, 2);
    EXPECT_EQ(finished.out, "");
    expect_one_error(finished, {part});
  };
  refused({"caption", photo, "--html", page}, "page.html: exists already; --force overwrites it");
  EXPECT_EQ(file_text(page), "mine");
  refused({"caption", photo, "--html", folder / "none/page.html"}, "does not exist");
  refused({"caption", photo, "--html", folder.path()}, "is a folder");
  std::vector<std::string> many(1002, photo);
  many[0] = "caption";
  many.insert(many.end(), {"--html", folder / "other.html"});
  refused(many, "--html is a page of at most 1000 photos, and there are 1001");
}

TEST(CaptionHtml, ForceReplacesThePageAndAFailedRunLeavesIt) {
  const TemporaryFolder folder;
  const std::string run = hostile_captioner(folder);
  const std::string page = folder.write("page.html", "mine");
  EXPECT_EQ(run_program({"caption", folder.write("broken.png", "no picture"), "--model", run,
                         "--html", page, "--force"})
                .status,
            1);
  EXPECT_EQ(file_text(page), "mine");
  EXPECT_EQ(run_program({"caption", golden("images/rgb.png"), "--model", run, "--html", page,
                         "--force", "--quiet"})
                .status,
            0);
  EXPECT_THAT(file_text(page), testing::StartsWith("<!doctype html>"));
  for (const auto& entry : std::filesystem::directory_iterator(folder.path())) {
    EXPECT_THAT(entry.path().string(), testing::Not(testing::EndsWith(".tmp")));
  }
}

}  // namespace
}  // namespace vitascope::tests
