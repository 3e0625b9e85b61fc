#include <gmock/gmock.h>

#include <algorithm>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "tests/cli/tiny_captions.h"

namespace vitascope::tests {
namespace {

using testing::HasSubstr;

TEST(TrainCaptioner, LearnsTwoPhotosByHeartAndCaptionSaysThem) {
  const TemporaryFolder folder;
  const std::string run = folder / "run";
  const Finished trained =
      run_program(train_tiny_captioner(folder, run, {"--epochs", "60", "--metric", "loss"}));
  ASSERT_EQ(trained.status, 0) << trained.err;
  const Finished said = run_program({"caption", golden("images/rgb.png"), golden("images/gray.jpg"),
                                     "--model", run, "--format", "json", "--best", "2"});
  ASSERT_EQ(said.status, 0) << said.err;
  std::istringstream lines(said.out);
  std::vector<nlohmann::json> photos;
  for (std::string line; std::getline(lines, line);) photos.push_back(nlohmann::json::parse(line));
  ASSERT_EQ(photos.size(), 2u);
  EXPECT_EQ(photos[0]["captions"][0]["text"], "a red wall");
  EXPECT_EQ(photos[1]["captions"][0]["text"], "a gray cup on a table");
  EXPECT_EQ(photos[0]["captions"].size(), 2u);
  EXPECT_GE(photos[0]["captions"][0]["score"], photos[0]["captions"][1]["score"]);
  const nlohmann::json& words = photos[0]["captions"][0]["words"];
  ASSERT_EQ(words.size(), 4u);
  EXPECT_EQ(words[3]["word"], "<end>");
  double sum = 0;
  for (const nlohmann::json& word : words) sum += word["log_prob"].get<double>();
  EXPECT_NEAR(sum, photos[0]["captions"][0]["log_prob"].get<double>(), 1e-6);
}

TEST(TrainCaptioner, StoppedItGoesOnBitByBit) {
  const TemporaryFolder straight_folder, folder;
  const std::vector<std::string> more{"--epochs",         "6",    "--batch-size", "1",
                                      "--attention-type", "hard", "--ema",        "0.9",
                                      "--own-words",      "0.3",  "--metric",     "loss"};
  const std::string straight = straight_folder / "run", cut = folder / "run";
  ASSERT_EQ(run_program(train_tiny_captioner(straight_folder, straight, more)).status, 0);
  Invocation invocation;
  invocation.arguments = train_tiny_captioner(folder, cut, more);
  bool sent = false;
  invocation.watch = [&](pid_t pid, const Finished& so_far) {
    if (sent || so_far.out.find("epoch 2/6") == std::string::npos) return;
    sent = true;
    kill(pid, SIGTERM);
  };
  ASSERT_EQ(run_program(invocation).status, 130);
  std::vector<std::string> again = more;
  again.emplace_back("--resume");
  const Finished resumed = run_program(train_tiny_captioner(folder, cut, again));
  ASSERT_EQ(resumed.status, 0) << resumed.err;
  EXPECT_TRUE(file_text(straight + "/decoder.safetensors") ==
              file_text(cut + "/decoder.safetensors"));
}

/// The caption that a run gives to the red wall, and its log-probability.
std::pair<std::string, double> of_the_wall(const std::string& run) {
  const Finished said =
      run_program({"caption", golden("images/rgb.png"), "--model", run, "--format", "json"});
  EXPECT_EQ(said.status, 0) << said.err;
  const auto best = nlohmann::json::parse(said.out)["captions"][0];
  return {best["text"], best["log_prob"]};
}

TEST(TrainCaptioner, WholePhotosAreSeenWholeByCaptionToo) {
  const TemporaryFolder folder;
  const std::string run = folder / "run", config = run + "/config.json";
  const std::string crops = golden("models/hf-dinov2");
  const Finished trained = run_program(
      train_tiny_captioner(folder, run, {"--epochs", "2", "--whole-photo", "--encoder", crops}));
  ASSERT_EQ(trained.status, 0) << trained.err;
  const double whole = of_the_wall(run).second;
  nlohmann::json json = nlohmann::json::parse(file_text(config));
  EXPECT_EQ(json["encoder"]["whole_photo"], true);
  json["encoder"]["whole_photo"] = false;
  std::ofstream(config) << json;
  EXPECT_NE(of_the_wall(run).second, whole);
}

TEST(TrainCaptioner, BeginsWithAnotherCaptionersDecoderAndWords) {
  const TemporaryFolder folder;
  const std::string first = folder / "first", second = folder / "second";
  ASSERT_EQ(run_program(train_tiny_captioner(folder, first, {"--epochs", "60", "--metric", "loss"}))
                .status,
            0);
  const Finished again = run_program({"train-captioner", "--data", tiny_captions(folder),
                                      "--photos", folder / "photos", "--start", first, "--output",
                                      second, "--epochs", "1", "--lr", "1e-9"});
  ASSERT_EQ(again.status, 0) << again.err;
  EXPECT_EQ(of_the_wall(second).first, "a red wall");
  EXPECT_NEAR(of_the_wall(second).second, of_the_wall(first).second, 1e-3);
}

/// CIDEr-D of validation after each epoch.
std::vector<double> worths(const std::string& run) {
  std::istringstream log(file_text(run + "/log.jsonl"));
  std::vector<double> worths;
  for (std::string line; std::getline(log, line);) {
    worths.push_back(nlohmann::json::parse(line)["val_cider_d"]);
  }
  return worths;
}

TEST(TrainCaptioner, SelfCriticalItsCaptionsGrowWorthMore) {
  const TemporaryFolder folder;
  const std::string first = folder / "first", second = folder / "second";
  std::vector<std::string> start =
      train_tiny_captioner(folder, first, {"--epochs", "12", "--metric", "loss"});
  const std::string data = tiny_captions(folder, 24);
  ASSERT_EQ(run_program(start).status, 0);
  const Finished bettered =
      run_program({"train-captioner", "--data",  data,        "--photos",
                   folder / "photos", "--start", first,       "--self-critical",
                   "--output",        second,    "--epochs",  "20",
                   "--batch-size",    "4",       "--lr",      "2e-3",
                   "--metric",        "cider_d", "--threads", "1"});
  ASSERT_EQ(bettered.status, 0) << bettered.err;
  ASSERT_EQ(worths(second).size(), 20u);
  EXPECT_GT(std::ranges::max(worths(second)), worths(first).back() + 0.5);
}

TEST(TrainCaptioner, SelfCriticalOfTwoPhotosIsRefused) {
  const TemporaryFolder folder;
  const std::string first = folder / "first";
  ASSERT_EQ(run_program(train_tiny_captioner(folder, first, {"--epochs", "1"})).status, 0);
  const Finished refused = run_program(
      train_tiny_captioner(folder, folder / "second", {"--start", first, "--self-critical"}));
  EXPECT_EQ(refused.status, 2);
  EXPECT_THAT(refused.err, HasSubstr("learns from 10 or more"));
}

TEST(TrainCaptioner, AnEncoderWithoutASizeOfItsOwnNeedsOne) {
  const TemporaryFolder folder;
  const std::string encoder = folder / "encoder", file = encoder + "/preprocessor_config.json";
  std::filesystem::copy(golden("models/hf-dinov2"), encoder);
  nlohmann::json json = nlohmann::json::parse(file_text(file));
  json["do_center_crop"] = false;
  std::ofstream(file) << json;
  const Finished finished =
      run_program(train_tiny_captioner(folder, folder / "run", {"--encoder", encoder}));
  EXPECT_EQ(finished.status, 2) << finished.err;
  EXPECT_THAT(finished.err, HasSubstr("--input-size says which"));
}

TEST(TrainCaptioner, BadInputIsOneLine) {
  const TemporaryFolder folder;
  const struct {
    std::vector<std::string> more;
    std::string part;
  } cases[] = {{{"--data", folder / "none.json"}, "none.json"},
               {{"--encoder", folder / "none.pth"}, "none.pth"},
               {{"--min-count", "99"}, "word"},
               {{"--attention-type", "hard", "--score", "multi_head"}, "hard attention"},
               {{"--score", "dot"}, "general"},
               {{"--self-critical"}, "expected its folder as --start"},
               {{"--start", folder / "none"}, "none"},
               {{"--resume", "--force"}, "one of them"}};
  for (const auto& [more, part] : cases) {
    std::vector<std::string> arguments = train_tiny_captioner(folder, folder / "run", more);
    const Finished finished = run_program(arguments);
    EXPECT_EQ(finished.status, 2) << part << finished.err;
    EXPECT_THAT(finished.err, HasSubstr(part));
    EXPECT_FALSE(std::filesystem::exists(folder / "run")) << part;
  }
}

TEST(Caption, AFolderThatIsNoCaptionerIsNamed) {
  const Finished finished =
      run_program({"caption", golden("images/rgb.png"), "--model", golden("models/hf-vit")});
  EXPECT_EQ(finished.status, 2);
  EXPECT_THAT(finished.err, HasSubstr("expected vitascope_captioner: a captioner"));
  EXPECT_THAT(finished.err, testing::Not(HasSubstr("expected expected")));
}

}  // namespace
}  // namespace vitascope::tests
