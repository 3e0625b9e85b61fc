#include <gmock/gmock.h>

#include <nlohmann/json.hpp>

#include "tests/cli/two_classes.h"

namespace vitascope::tests {
namespace {

using testing::HasSubstr;

std::vector<std::string> command(const std::string& data, const std::string& output,
                                 std::vector<std::string> more = {}) {
  std::vector<std::string> all{"finetune",
                               "--model",
                               golden("models/hf-dinov2"),
                               "--data",
                               data,
                               "--output",
                               output,
                               "--method",
                               "knn",
                               "--neighbours",
                               "5",
                               "--threads",
                               "1"};
  all.insert(all.end(), more.begin(), more.end());
  return all;
}

nlohmann::json answer(std::vector<std::string> arguments) {
  const Finished finished = run_program(std::move(arguments));
  EXPECT_EQ(finished.status, 0) << finished.err;
  return nlohmann::json::parse(finished.out);
}

TEST(FinetuneNeighbours, TheRunOpensAsTheModel) {
  const TemporaryFolder folder;
  const std::string data = two_classes(folder);
  const std::string run = folder / "run";
  const Finished finished = run_program(command(data, run));
  ASSERT_EQ(finished.status, 0) << finished.err;
  EXPECT_THAT(finished.out, HasSubstr("8 kept with the model"));
  EXPECT_THAT(finished.out, HasSubstr("accuracy 1.0000"));
  EXPECT_EQ(nlohmann::json::parse(file_text(run + "/log.jsonl"))["val_accuracy"], 1.0);
  EXPECT_THAT(file_text(run + "/README.md"), HasSubstr("nothing was trained"));
  EXPECT_THAT(file_text(run + "/recipe.yaml"), HasSubstr("neighbours: 5"));

  const std::string photo = golden("images/rgb.png");
  const auto classified =
      answer({"classify", photo, "--model", run, "--format", "json", "--quiet"});
  EXPECT_EQ(classified["predictions"][0]["label"], "red cat");
  EXPECT_GT(classified["predictions"][0]["probability"], 0.8);
  const auto evaluated =
      answer({"evaluate", "--model", run, "--data", data, "--format", "json", "--quiet"});
  EXPECT_EQ(evaluated["top1"], 1.0);
  const auto info = answer({"info", "--model", run, "--format", "json"});
  EXPECT_EQ(info["neighbours"]["count"], 5);
  EXPECT_EQ(info["neighbours"]["photos"], (std::vector<int>{4, 4}));
}

TEST(FinetuneNeighbours, MapsSayWhereAVoteCameFrom) {
  const TemporaryFolder folder;
  const std::string run = folder / "run";
  ASSERT_EQ(run_program(command(two_classes(folder), run, {"--quiet"})).status, 0);
  for (const char* method : {"relevance", "gradcam", "legrad"}) {
    const std::string map = folder / std::string(method) + ".png";
    const Finished finished = run_program({"attend", golden("images/rgb.png"), "--model", run,
                                           "--method", method, "--output", map, "--quiet"});
    EXPECT_EQ(finished.status, 0) << finished.err;
    EXPECT_TRUE(std::filesystem::exists(map)) << method;
  }
}

TEST(FinetuneNeighbours, GoesOnWithItsFeaturesAndAsAModelToLearnFrom) {
  const TemporaryFolder folder;
  const std::string data = two_classes(folder);
  const std::string run = folder / "run";
  ASSERT_EQ(run_program(command(data, run)).status, 0);
  const Finished again =
      run_program(command(data, run, {"--resume", "--neighbours", "1", "--temperature", "0.5"}));
  ASSERT_EQ(again.status, 0) << again.err;
  EXPECT_THAT(again.out, HasSubstr("(0 computed)"));
  EXPECT_THAT(again.out, HasSubstr("1 nearest photos, temperature 0.5"));

  const Finished trained = run_program({"finetune", "--model", run, "--data", data, "--output",
                                        folder / "full", "--epochs", "1", "--batch-size", "4"});
  ASSERT_EQ(trained.status, 0) << trained.err;
  EXPECT_EQ(answer({"info", "--model", folder / "full", "--format", "json"})["neighbours"],
            nullptr);
  const Finished converted =
      run_program({"convert", "--model", run, "--output", folder / "theirs"});
  EXPECT_EQ(converted.status, 2);
  EXPECT_THAT(converted.err, HasSubstr("can't express a head of neighbours"));
}

TEST(FinetuneNeighbours, WeightsThatAreNotUsedAreToldOf) {
  const TemporaryFolder folder;
  const std::string photo = golden("images/rgb.png"), line = photo + ",a,train,1\n";
  const std::string table = "path,label,split,weight\n" + line + line + line + line + line + photo +
                            ",a,val,1\n" + golden("images/gray.jpg") + ",b,train,";
  for (const bool weighed : {true, false}) {
    const std::string data = folder.write("labels.csv", table + (weighed ? "2\n" : "1\n"));
    const Finished finished =
        run_program(command(data, folder / (weighed ? "one" : "two"), {"--skip-check"}));
    ASSERT_EQ(finished.status, 0) << finished.err;
    EXPECT_EQ(finished.err.find("all photos count alike") != std::string::npos, weighed);
  }
}

TEST(FinetuneNeighbours, BadInputIsOneLine) {
  const TemporaryFolder folder;
  const std::string data = two_classes(folder);
  const std::string several = folder.write(
      "several.jsonl", R"({"path": ")" + golden("images/rgb.png") + R"(", "labels": ["a", "b"]})" +
                           "\n" + R"({"path": ")" + golden("images/gray.jpg") +
                           R"(", "labels": ["a"]})" + "\n");
  const std::string run = folder / "run";
  const struct {
    std::vector<std::string> arguments;
    std::string part;
  } cases[] = {{command(data, run, {"--neighbours", "0"}), "--neighbours"},
               {command(data, run, {"--neighbours", "9"}), "8 photos are for training"},
               {command(data, run, {"--temperature", "0"}), "--temperature"},
               {command(several, run, {"--neighbours", "1"}), "several labels"},
               {command(data, run, {"--cache", "none"}), "ram or disk"},
               {command(data, run, {"--processes", "2"}), "by one process"}};
  for (const auto& [arguments, part] : cases) {
    const Finished finished = run_program(arguments);
    EXPECT_EQ(finished.status, 2) << part;
    EXPECT_THAT(finished.err, HasSubstr(part));
    EXPECT_FALSE(std::filesystem::exists(run)) << part;
  }
}

}  // namespace
}  // namespace vitascope::tests
