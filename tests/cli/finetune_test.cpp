#include <gmock/gmock.h>

#include <algorithm>
#include <cmath>
#include <csignal>
#include <nlohmann/json.hpp>

#include "tests/cli/two_classes.h"

namespace vitascope::tests {
namespace {

using testing::HasSubstr;

std::vector<std::string> command(const std::string& data, const std::string& output,
                                 std::vector<std::string> more = {}) {
  std::vector<std::string> all{
      "finetune", "--model", golden("models/hf-vit"), "--data", data,        "--output", output,
      "--lr",     "1e-3",    "--batch-size",          "4",      "--threads", "1",        "--epochs",
      "4"};
  all.insert(all.end(), more.begin(), more.end());
  return all;
}

TEST(Finetune, TheRunOpensAsTheModel) {
  for (const char* method : {"full", "lora", "bias"}) {
    const TemporaryFolder folder;
    const std::string run = folder / "run";
    const Finished finished =
        run_program(command(two_classes(folder), run, {"--method", method, "--seed", "3"}));
    ASSERT_EQ(finished.status, 0) << finished.err;
    EXPECT_THAT(finished.out, HasSubstr("red cat"));
    EXPECT_THAT(finished.out, HasSubstr("epoch 4/4"));
    const Finished classified = run_program(
        {"classify", golden("images/rgb.png"), "--model", run, "--format", "json", "--quiet"});
    ASSERT_EQ(classified.status, 0) << classified.err;
    const auto json = nlohmann::json::parse(classified.out);
    EXPECT_EQ(json["predictions"].size(), 2u);
    EXPECT_EQ(json["predictions"][0]["label"], "red cat") << method;
    std::size_t lines = 0;
    std::istringstream log(file_text(run + "/log.jsonl"));
    for (std::string line; std::getline(log, line); ++lines) {
      EXPECT_EQ(nlohmann::json::parse(line)["epoch"], lines + 1);
    }
    EXPECT_EQ(lines, 4u);
    EXPECT_EQ(std::filesystem::exists(run + "/adapter/adapter.safetensors"),
              std::string(method) == "lora");
  }
}

/// The checkpoints of a run, as bytes.
std::string last_checkpoint(const std::string& run) {
  std::vector<std::string> paths;
  for (const auto& entry : std::filesystem::directory_iterator(run + "/checkpoints")) {
    paths.push_back(entry.path().string());
  }
  std::ranges::sort(paths);
  return paths.empty() ? "" : file_text(paths.back());
}

/// Asked to stop, and torn away where the checkpoint is the end of an epoch.
class FinetuneInterrupted : public testing::TestWithParam<int> {};

TEST_P(FinetuneInterrupted, GoesOnBitByBit) {
  const TemporaryFolder folder;
  const std::string data = two_classes(folder);
  const std::vector<std::string> more{"--ema",       "0.9", "--mixup",   "0.2",
                                      "--drop-path", "0.1", "--dropout", "0.1"};
  ASSERT_EQ(run_program(command(data, folder / "straight", more)).status, 0);

  Invocation invocation;
  invocation.arguments = command(data, folder / "cut", more);
  bool sent = false;
  invocation.watch = [&](pid_t pid, const Finished& so_far) {
    if (sent || so_far.out.find("epoch 1/4") == std::string::npos) return;
    sent = true;
    kill(pid, GetParam());
  };
  const Finished cut = run_program(invocation);
  if (GetParam() == SIGTERM) {
    ASSERT_EQ(cut.status, 130) << cut.err;
  } else {
    ASSERT_NE(cut.status, 0);
  }
  std::vector<std::string> again = more;
  again.emplace_back("--resume");
  const Finished resumed = run_program(command(data, folder / "cut", again));
  ASSERT_EQ(resumed.status, 0) << resumed.err;
  EXPECT_TRUE(last_checkpoint(folder / "straight") == last_checkpoint(folder / "cut"));
  EXPECT_TRUE(file_text(folder / "straight" + "/model.safetensors") ==
              file_text(folder / "cut" + "/model.safetensors"));

  again.insert(again.end(), {"--label-smoothing", "0.2"});
  const Finished other = run_program(command(data, folder / "cut", again));
  EXPECT_EQ(other.status, 2);
  EXPECT_THAT(other.err, HasSubstr("label-smoothing"));
}

INSTANTIATE_TEST_SUITE_P(Signals, FinetuneInterrupted, testing::Values(SIGTERM, SIGKILL),
                         [](const auto& info) { return info.param == SIGTERM ? "term" : "kill"; });

TEST(Finetune, ResumeWithoutACheckpointBeginsAndSaysSo) {
  const TemporaryFolder folder;
  const Finished finished =
      run_program(command(two_classes(folder), folder / "run", {"--resume", "--epochs", "1"}));
  EXPECT_EQ(finished.status, 0) << finished.err;
  EXPECT_THAT(finished.err, HasSubstr("has no checkpoint yet"));
}

TEST(Finetune, BadInputIsOneLine) {
  const TemporaryFolder folder;
  const std::string data = two_classes(folder);
  const std::string one =
      folder.write("one.csv", "path,label\n" + golden("images/rgb.png") + ",a\n");
  folder.write("full/file", "somebody's work");
  std::filesystem::create_directories(folder / "half/cats");
  std::filesystem::create_directories(folder / "half/dogs");
  std::filesystem::copy_file(golden("images/rgb.png"), folder / "half/cats/1.png");
  const struct {
    std::vector<std::string> arguments;
    std::string part;
  } cases[] = {
      {command(one, folder / "run"), "two classes or more"},
      {command(data, folder / "full"), "--resume goes on"},
      {command(folder / "none", folder / "run"), "none"},
      {command(data, folder / "run", {"--metric", "map"}), "no figure 'map'"},
      {command(data, folder / "run", {"--metric", "micro_f1"}), "no figure 'micro_f1'"},
      {command(folder / "half", folder / "run"), "the class 'dogs' has no pictures"},
      {command(data, folder / "run", {"--method", "head", "--cache", "none"}), "ram or disk"},
      {command(data, folder / "run", {"--resume", "--force"}), "one of them"},
      {command(data, folder / "run", {"--warmup-epochs", "9"}), "--warmup-epochs"}};
  for (const auto& [arguments, part] : cases) {
    const Finished finished = run_program(arguments);
    EXPECT_EQ(finished.status, 2) << part;
    EXPECT_THAT(finished.err, HasSubstr(part));
    EXPECT_FALSE(std::filesystem::exists(folder / "run")) << part;
  }
}

TEST(Finetune, AHeadOnFrozenFeatures) {
  const TemporaryFolder folder;
  const std::string data = two_classes(folder);
  const std::string run = folder / "run";
  std::vector<std::string> arguments{"finetune", "--model",  golden("models/hf-vit"),
                                     "--data",   data,       "--output",
                                     run,        "--method", "head"};
  const Finished finished = run_program(arguments);
  ASSERT_EQ(finished.status, 0) << finished.err;
  EXPECT_THAT(finished.out, HasSubstr("accuracy 1.0000"));
  EXPECT_THAT(finished.out, HasSubstr("(12 computed)"));
  const Finished classified = run_program(
      {"classify", golden("images/rgb.png"), "--model", run, "--format", "json", "--quiet"});
  ASSERT_EQ(classified.status, 0) << classified.err;
  EXPECT_EQ(nlohmann::json::parse(classified.out)["predictions"][0]["label"], "red cat");
  EXPECT_EQ(nlohmann::json::parse(file_text(run + "/log.jsonl"))["val_accuracy"], 1.0);

  arguments.emplace_back("--resume");
  const Finished again = run_program(arguments);
  ASSERT_EQ(again.status, 0) << again.err;
  EXPECT_THAT(again.out, HasSubstr("(0 computed)"));
}

/// Decoded photos that are kept change nothing of what is learned from PNGs; from balanced classes
/// something else is learned.
TEST(Finetune, CachesChangeNothingAndSamplingDoes) {
  const TemporaryFolder folder;
  const std::string data =
      folder.write("labels.csv", "path,label,split\n" + golden("images/rgb.png") + ",a,train\n" +
                                     golden("images/palette.png") + ",a,train\n" +
                                     golden("images/rgba_partial.png") + ",b,train\n" +
                                     golden("images/rgb.png") + ",a,val\n" +
                                     golden("images/rgba_partial.png") + ",b,val\n");
  const auto weights_with = [&](const char* name, const std::vector<std::string>& more) {
    const Finished finished = run_program(command(data, folder / name, more));
    EXPECT_EQ(finished.status, 0) << finished.err;
    return file_text(folder / name + "/model.safetensors");
  };
  const std::string plain = weights_with("plain", {});
  EXPECT_TRUE(plain == weights_with("ram", {"--cache", "ram"}));
  EXPECT_TRUE(plain == weights_with("disk", {"--cache", "disk"}));
  EXPECT_FALSE(plain == weights_with("balanced", {"--sampling", "balanced"}));
  EXPECT_FALSE(plain == weights_with("focal", {"--loss", "focal"}));
}

TEST(Finetune, BrokenPhotosAreFoundBeforehand) {
  const TemporaryFolder folder;
  const std::string broken = golden("images/bad/truncated.jpg");
  const std::string data =
      folder.write("labels.csv", file_text(two_classes(folder)) + broken + ",red cat,train\n");
  const Finished refused = run_program(command(data, folder / "refused"));
  EXPECT_EQ(refused.status, 3);
  EXPECT_THAT(refused.err, HasSubstr("truncated.jpg"));
  EXPECT_THAT(refused.err, HasSubstr("1 photo can't be decoded"));
  EXPECT_THAT(refused.err, testing::Not(HasSubstr("training will take")));

  const Finished midway = run_program(command(data, folder / "midway", {"--skip-check"}));
  EXPECT_EQ(midway.status, 2) << midway.err;
  EXPECT_THAT(midway.err, HasSubstr("truncated.jpg"));
  EXPECT_THAT(midway.err, HasSubstr("--on-bad-image skip"));

  const Finished skipped =
      run_program(command(data, folder / "skipped", {"--on-bad-image", "skip", "--epochs", "1"}));
  EXPECT_EQ(skipped.status, 0) << skipped.err;
  EXPECT_THAT(skipped.err, HasSubstr("left out"));
}

/// What LoRA learned fits on the model that it was learned on, packed or not.
TEST(Finetune, AnAdapterIsAsGoodAsTheMergedModel) {
  const TemporaryFolder folder;
  const std::string run = folder / "run";
  ASSERT_EQ(run_program(command(two_classes(folder), run, {"--method", "lora"})).status, 0);
  const auto predictions = [&](std::vector<std::string> model) {
    std::vector<std::string> arguments{"classify", "--format", "json", "--quiet"};
    for (int i = 0; i < 4; ++i) arguments.push_back(golden("images/rgb.png"));
    arguments.insert(arguments.end(), model.begin(), model.end());
    const Finished finished = run_program(arguments);
    EXPECT_EQ(finished.status, 0) << finished.err;
    return nlohmann::json::parse(finished.out.substr(0, finished.out.find('\n')))["predictions"];
  };
  const auto merged = predictions({"--model", run});
  const auto adapted = predictions(
      {"--model", golden("models/hf-vit"), "--adapter", run + "/adapter/adapter.safetensors"});
  ASSERT_EQ(adapted.size(), 2u);
  for (std::size_t i = 0; i < 2; ++i) {
    EXPECT_EQ(adapted[i]["label"], merged[i]["label"]);
    EXPECT_NEAR(adapted[i]["probability"], merged[i]["probability"], 1e-5);
  }
}

/// A head that names the same classes is gone on with, unless a new one is asked for.
TEST(Finetune, TheHeadIsKeptOrBegunAnew) {
  const TemporaryFolder folder;
  const std::string data = two_classes(folder), first = folder / "first";
  ASSERT_EQ(run_program(command(data, first, {"--head-lr", "0.1"})).status, 0);
  const auto probability = [](const std::string& model) {
    const Finished finished = run_program(
        {"classify", golden("images/rgb.png"), "--model", model, "--format", "json", "--quiet"});
    return nlohmann::json::parse(finished.out)["predictions"][0]["probability"].get<double>();
  };
  const auto again = [&](const std::string& run, std::vector<std::string> more) {
    more.insert(more.begin(), {"finetune", "--model", first, "--data", data, "--output", run,
                               "--epochs", "1", "--lr", "0", "--threads", "1"});
    return run_program(more);
  };
  const Finished kept = again(folder / "kept", {});
  ASSERT_EQ(kept.status, 0) << kept.err;
  EXPECT_THAT(kept.err, HasSubstr("its head is kept"));
  EXPECT_NEAR(probability(folder / "kept"), probability(first), 1e-6);
  const Finished anew = again(folder / "anew", {"--new-head"});
  ASSERT_EQ(anew.status, 0) << anew.err;
  EXPECT_THAT(anew.err, testing::Not(HasSubstr("its head is kept")));
  EXPECT_GT(std::abs(probability(folder / "anew") - probability(first)), 0.05);
}

/// Photos with several labels, or none, become a model that says so.
TEST(Finetune, SeveralLabelsAPhoto) {
  const TemporaryFolder folder;
  std::string lines;
  for (int i = 0; i < 4; ++i) {
    const std::string split = i < 3 ? "train" : "val";
    lines += R"({"path": ")" + golden("images/rgb.png") +
             R"(", "labels": ["red", "cat"], "split": ")" + split + "\"}\n";
    lines += R"({"path": ")" + golden("images/gray.jpg") + R"(", "labels": ["cup"], "split": ")" +
             split + "\"}\n";
  }
  const std::string data = folder.write("labels.jsonl", lines);
  for (const std::string method : {"full", "lora", "head"}) {
    const std::string run = folder / method;
    std::vector<std::string> more{"--method", method, "--loss", "asymmetric"};
    if (method != "head") more.insert(more.end(), {"--metric", "map", "--dropout", "0.1"});
    const Finished finished = run_program(command(data, run, more));
    ASSERT_EQ(finished.status, 0) << finished.err;
    const Finished evaluated =
        run_program({"evaluate", "--model", run, "--data", data, "--format", "json", "--quiet"});
    ASSERT_EQ(evaluated.status, 0) << evaluated.err;
    const auto json = nlohmann::json::parse(evaluated.out);
    EXPECT_EQ(json["multi_label"], true);
    EXPECT_EQ(json["map"], 1.0) << method;
    // The log tells of the kept epoch what `evaluate` says of the kept model.
    std::istringstream log(file_text(run + "/log.jsonl"));
    nlohmann::json kept;
    for (std::string line; std::getline(log, line);) {
      const auto row = nlohmann::json::parse(line);
      if (row["best"]) kept = row;
    }
    for (const std::string figure : {"map", "micro_f1", "macro_f1"}) {
      EXPECT_EQ(kept["val_" + figure], json[figure]) << method << ' ' << figure;
    }
  }
  const Finished refused = run_program(command(data, folder / "focal", {"--loss", "focal"}));
  EXPECT_EQ(refused.status, 2);
  EXPECT_THAT(refused.err, HasSubstr("binary or asymmetric"));
}

}  // namespace
}  // namespace vitascope::tests
