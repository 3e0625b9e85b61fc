#include "app/commands/benchmark.h"

#include <gmock/gmock.h>

#include <nlohmann/json.hpp>
#include <sstream>

#include "tests/app/commands/run_command.h"
#include "tests/golden.h"
#include "vit/error.h"
#include "vit/model/architectures.h"

namespace vitascope::app {
namespace {

using nlohmann::json;
using testing::HasSubstr;
using tests::golden;
using tests::run_command;

std::vector<json> benchmark_json(std::vector<std::string> arguments) {
  arguments.insert(arguments.end(), {"--format", "json", "--warmup", "0", "--repeat", "3"});
  std::istringstream lines(run_command(declare_benchmark, arguments).out);
  std::vector<json> objects;
  for (std::string line; std::getline(lines, line);) objects.push_back(json::parse(line));
  return objects;
}

TEST(Benchmark, PrintsOneObjectAConfiguration) {
  const std::vector<json> objects =
      benchmark_json({"--model", golden("models/hf-vit"), "--batch-sizes", "1,4", "--precisions",
                      "fp32,bf16", "--attention", "sdpa,math", "--threads", "1"});
  ASSERT_EQ(objects.size(), 8u);
  EXPECT_EQ(objects[0]["attention"], "sdpa");
  EXPECT_EQ(objects[1]["attention"], "math");
  EXPECT_EQ(objects[2]["precision"], "bf16");
  EXPECT_EQ(objects[4]["batch_size"], 4);
  for (const json& object : objects) {
    const double median = object["milliseconds_median"];
    EXPECT_GE(median, object["milliseconds_min"].get<double>());
    EXPECT_LE(median, object["milliseconds_max"].get<double>());
    EXPECT_NEAR(object["images_per_second"].get<double>(),
                1000 * object["batch_size"].get<double>() / median, 1e-6 * 1000 / median * 8);
    EXPECT_GT(object["peak_memory_bytes"], 1 << 20);
    EXPECT_EQ(object["threads"], 1);
    EXPECT_EQ(object["repeat"], 3);
    EXPECT_EQ(object["input_width"], 32);
    for (const char* part : {"decode", "resize", "embed", "attention", "mlp", "head"}) {
      EXPECT_GT(object["parts"][part], 0) << part;
    }
  }
}

TEST(Benchmark, ReachedOperationsFollowFromTheTime) {
  const json object =
      benchmark_json({"--model", "vit_tiny_patch16_224", "--batch-sizes", "2"}).at(0);
  const model::Config config = model::architecture("vit_tiny_patch16_224").value();
  const double operations = 2.0 * double(model::flops(config, {14, 14}));
  EXPECT_NEAR(object["gflops"].get<double>(),
              operations / object["milliseconds_median"].get<double>() / 1e6, 1e-6 * operations);
  EXPECT_EQ(object["architecture"], "vit_tiny_patch16_224");
  EXPECT_EQ(object["input_height"], 224);
}

TEST(Benchmark, TakesAnotherInputSize) {
  const json object = benchmark_json({"--model", "vit_tiny_patch16_224", "--batch-sizes", "1",
                                      "--input-size", "64x96"})
                          .at(0);
  EXPECT_EQ(object["input_height"], 64);
  EXPECT_EQ(object["input_width"], 96);
}

TEST(Benchmark, PrintsATable) {
  const auto result =
      run_command(declare_benchmark, {"--model", golden("models/timm-vit"), "--repeat", "2",
                                      "--image", golden("images/rgb_plain.jpg")});
  EXPECT_EQ(result.status, 0);
  for (const char* word : {"median", "images/s", "GFLOP/s", "decode", "attention", "MLP", "fp32"}) {
    EXPECT_THAT(result.out, HasSubstr(word));
  }
}

TEST(Benchmark, SuggestsTheNearestArchitecture) {
  try {
    run_command(declare_benchmark, {"--model", "vit_base_patch16_242"});
    FAIL() << "accepted";
  } catch (const UsageError& error) {
    EXPECT_THAT(error.what(), HasSubstr("vit_base_patch16_224"));
  }
}

TEST(Benchmark, RefusesListsThatAreNone) {
  for (const char* list : {"1,x", "0", "1,-8"}) {
    EXPECT_THROW(
        run_command(declare_benchmark, {"--model", golden("models/hf-vit"), "--batch-sizes", list}),
        CLI::ParseError)
        << list;
  }
}

}  // namespace
}  // namespace vitascope::app
