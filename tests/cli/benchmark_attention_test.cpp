#include <gmock/gmock.h>

#include <nlohmann/json.hpp>
#include <sstream>

#include "tests/cli/run_program.h"

namespace vitascope::tests {
namespace {

TEST(BenchmarkAttention, PrintsOneObjectALineForEveryBackendAndDirection) {
  const auto result = run_program(
      {"benchmark-attention", "--batch", "1", "--heads", "2", "--tokens", "5,9", "--head-width",
       "8", "--precision", "fp32,bf16", "--repeat", "1", "--warmup", "0", "--format", "json"});
  ASSERT_EQ(result.status, 0) << result.err;
  std::istringstream lines(result.out);
  int count = 0;
  for (std::string line; std::getline(lines, line); ++count) {
    const auto json = nlohmann::json::parse(line);
    EXPECT_GT(json.at("milliseconds"), 0);
    EXPECT_GT(json.at("ratio_to_sdpa"), 0);
    EXPECT_EQ(json.at("head_width"), 8);
    EXPECT_THAT(json.at("direction").get<std::string>(), testing::AnyOf("forward", "backward"));
  }
  EXPECT_EQ(count, 2 * 2 * 2 * 3);
}

TEST(BenchmarkAttention, RefusesLengthsThatAreNone) {
  const auto result = run_program({"benchmark-attention", "--tokens", "0"});
  EXPECT_EQ(result.status, 2);
  EXPECT_THAT(result.err, testing::HasSubstr("--tokens"));
}

}  // namespace
}  // namespace vitascope::tests
