#include <gmock/gmock.h>

#include <nlohmann/json.hpp>
#include <set>
#include <sstream>

#include "tests/cli/run_program.h"
#include "tests/golden.h"

namespace vitascope::tests {
namespace {

using nlohmann::json;

TEST(BenchmarkCommand, GivesOneJsonObjectAConfiguration) {
  const Finished finished =
      run_program({"benchmark", "--model", golden("models/timm-vit"), "--batch-sizes", "1,8",
                   "--precisions", "fp32,bf16", "--repeat", "3", "--format", "json"});
  ASSERT_EQ(finished.status, 0) << finished.err;
  EXPECT_EQ(finished.err, "");
  std::set<std::string> seen;
  std::istringstream lines(finished.out);
  for (std::string line; std::getline(lines, line);) {
    const json object = json::parse(line);
    seen.insert(object["precision"].get<std::string>() + object["batch_size"].dump());
    for (const char* key :
         {"model", "architecture", "batch_size", "precision", "threads", "attention",
          "milliseconds_median", "milliseconds_min", "milliseconds_max", "images_per_second",
          "gflops", "peak_memory_bytes", "parts", "cpu"}) {
      EXPECT_TRUE(object.contains(key)) << key;
    }
  }
  EXPECT_THAT(seen, testing::ElementsAre("bf161", "bf168", "fp321", "fp328"));
}

TEST(BenchmarkCommand, TakesAnArchitectureByName) {
  const Finished finished = run_program(
      {"benchmark", "--model", "vit_tiny_patch16_224", "--batch-sizes", "1", "--repeat", "2"});
  EXPECT_EQ(finished.status, 0) << finished.err;
  EXPECT_THAT(finished.out, testing::HasSubstr("with random weights"));
}

TEST(BenchmarkCommand, AnswersMistakesInOneLine) {
  const Finished name = run_program({"benchmark", "--model", "vit_tiny_patch16_225"});
  EXPECT_EQ(name.status, 2);
  expect_one_error(name, {"vit_tiny_patch16_225", "vit_tiny_patch16_224"});
  const Finished list =
      run_program({"benchmark", "--model", "vit_tiny_patch16_224", "--batch-sizes", "1,many"});
  EXPECT_EQ(list.status, 2);
  expect_one_error(list, {"--batch-sizes", "'many'"});
  const Finished precision =
      run_program({"benchmark", "--model", "vit_tiny_patch16_224", "--precisions", "fp64"});
  EXPECT_EQ(precision.status, 2);
  expect_one_error(precision, {"--precisions", "'fp64'"});
  const Finished photo = run_program(
      {"benchmark", "--model", golden("models/hf-vit"), "--image", golden("images/bad/text.jpg")});
  EXPECT_EQ(photo.status, 2);
  expect_one_error(photo, {"text.jpg"});
}

}  // namespace
}  // namespace vitascope::tests
