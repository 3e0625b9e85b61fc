#include <gtest/gtest.h>

#include <cmath>

#include "kernels/cuda/attention.cuh"
#include "tests/simt/golden_case.h"

namespace simt {
namespace {

using vitascope::kernels::ForwardProblem;
using vitascope::kernels::cuda::Chip;
using vitascope::kernels::cuda::launch;

constexpr Chip kSmallestChip{99 * 1024};  // sm_89 and sm_120

/// Results of a forward pass in the order [B, H, N, D].
struct Result {
  std::vector<float> out, lse;
};

Result run_forward(const GoldenCase& golden, Element element, std::size_t misalignment = 0,
                   bool lengths_as_mask = false) {
  const DeviceInputs inputs(golden, element, misalignment, lengths_as_mask);
  ForwardProblem problem;
  inputs.describe(problem);
  const std::int64_t rows = problem.batch * problem.heads * problem.queries;
  const DeviceArray out(rows * problem.width, element, misalignment);
  const DeviceArray lse(rows, Element::f32);
  problem.out = out.data();
  problem.out_strides = rows_of_heads(problem.heads, problem.queries, problem.width);
  problem.lse = static_cast<float*>(lse.data());
  const char* unsupported = launch(problem, kSmallestChip, nullptr);
  if (unsupported != nullptr) throw std::runtime_error(unsupported);
  Result result;
  for (std::int64_t row = 0; row < rows; ++row) {
    const std::int64_t plane = row / problem.queries;
    const std::int64_t begin = problem.out_strides.offset(
        plane / problem.heads, plane % problem.heads, row % problem.queries);
    for (std::int64_t d = 0; d < problem.width; ++d) result.out.push_back(out[begin + d]);
    result.lse.push_back(lse[row]);
  }
  return result;
}

void expect_near(const std::vector<float>& got, const std::vector<float>& expected, double limit,
                 const char* name) {
  ASSERT_EQ(got.size(), expected.size()) << name;
  double largest = 0;
  std::size_t at = 0;
  for (std::size_t i = 0; i < got.size(); ++i) {
    if (got[i] == expected[i]) continue;  // infinities among them
    const double error = std::abs(double{got[i]} - double{expected[i]});
    if (!(error <= largest)) largest = error, at = i;
  }
  EXPECT_LE(largest, limit) << name << "[" << at << "]: " << got[at] << ", expected "
                            << expected[at];
}

void expect_forward(const GoldenCase& golden, Element element, bool lengths_as_mask = false) {
  const Result result = run_forward(golden, element, 0, lengths_as_mask);
  const auto& lse = golden.tensors.at("lse").values;
  expect_near(result.out, in_planes(golden, "out"), golden.limit("out", element), "out");
  expect_near(result.lse, lse, golden.limit("lse", element), "lse");
  const std::size_t width = golden.size("D");
  for (std::size_t row = 0; row < lse.size(); ++row) {
    if (lse[row] > -INFINITY) continue;
    EXPECT_EQ(result.lse[row], -INFINITY) << "row " << row;
    for (std::size_t d = 0; d < width; ++d) EXPECT_EQ(result.out[row * width + d], 0.0f);
  }
}

class SimtForward : public testing::TestWithParam<std::string> {};

TEST_P(SimtForward, Bfloat16KeepsTheLimits) {
  set_seed(1);
  expect_forward(read_golden_case(GetParam()), Element::bf16);
}

TEST_P(SimtForward, Float16KeepsTheLimits) {
  set_seed(2);
  expect_forward(read_golden_case(GetParam()), Element::f16);
}

// By lengths, hidden keys are never read; by a mask they are, NaN and infinity included.
TEST(SimtForwardMask, HidesPoisonedKeys) {
  for (const char* name : {"poison_n17_d32", "poison_n50_d32", "poison_dead_n16_d16"}) {
    SCOPED_TRACE(name);
    expect_forward(read_golden_case(name), Element::bf16, true);
    expect_forward(read_golden_case(name), Element::f16, true);
  }
}

// The order of fibres is no part of the answer, and neither is how rows are fetched.
TEST(SimtForwardLayout, OrderOfThreadsAndAlignmentChangeNothing) {
  for (const char* name :
       {"self_n97_d32", "self_n17_d72", "packed_n17_h3_d16", "padding_n50_d16"}) {
    const GoldenCase golden = read_golden_case(name);
    const Result first = run_forward(golden, Element::f16);
    for (std::uint64_t seed = 3; seed < 9; ++seed) {
      set_seed(seed);
      const Result result = run_forward(golden, Element::f16, seed % 3 * 2);  // 0, 2 or 4 bytes
      EXPECT_EQ(result.out, first.out) << name << ", seed " << seed;
      EXPECT_EQ(result.lse, first.lse) << name << ", seed " << seed;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Golden, SimtForward, testing::ValuesIn(golden_case_names()),
                         [](const auto& info) { return info.param; });

}  // namespace
}  // namespace simt
