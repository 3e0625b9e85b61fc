#include "kernels/cuda/attention.cuh"
#include "tests/simt/expectation.h"
#include "tests/simt/formula.h"
#include "tests/simt/kernel_runs.h"

namespace simt {
namespace {

using vitascope::kernels::ForwardProblem;
using vitascope::kernels::cuda::Chip;
using vitascope::kernels::cuda::launch;
using vitascope::kernels::cuda::supports;

/// Dynamic shared memory of a block on sm_89 and sm_120, which have the least.
constexpr Chip kSmallestChip{99 * 1024};

void expect_forward(const GoldenCase& golden, Element element, bool lengths_as_mask = false) {
  const ForwardResult result = run_forward(golden, element, {.lengths_as_mask = lengths_as_mask});
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

class SimtForward : public testing::TestWithParam<CaseAndType> {};

TEST_P(SimtForward, KeepsTheLimits) {
  const auto& [name, element] = GetParam();
  set_seed(1);
  expect_forward(read_golden_case(name), element);
}

INSTANTIATE_TEST_SUITE_P(Golden, SimtForward, every_case_and_type(), case_and_type_name);

// By lengths, hidden keys are never read; by a mask they are, NaN and infinity included.
TEST(SimtForwardMask, HidesPoisonedKeys) {
  for (const char* name : {"poison_n17_d32", "poison_n50_d32", "poison_dead_n16_d16"}) {
    for (const Element element : {Element::f32, Element::bf16, Element::f16}) {
      SCOPED_TRACE(name + type_name(element));
      expect_forward(read_golden_case(name), element, true);
    }
  }
}

// The order of fibres is no part of the answer, and neither is how rows are fetched.
TEST(SimtForwardLayout, OrderOfThreadsAndAlignmentChangeNothing) {
  for (const char* name :
       {"self_n97_d32", "self_n17_d72", "packed_n17_h3_d16", "padding_n50_d16"}) {
    const GoldenCase golden = read_golden_case(name);
    const ForwardResult first = run_forward(golden, Element::f16);
    for (std::uint64_t seed = 3; seed < 9; ++seed) {
      set_seed(seed);
      const ForwardResult result =
          run_forward(golden, Element::f16, {.misalignment = seed % 3 * 2});  // 0, 2 or 4 bytes
      EXPECT_EQ(result.out, first.out) << name << ", seed " << seed;
      EXPECT_EQ(result.lse, first.lse) << name << ", seed " << seed;
    }
  }
}

/// Whether keys and values stay in shared memory, and how many there are.
using KernelAndKeys = std::tuple<bool, std::int64_t>;
class SimtForwardKernel : public testing::TestWithParam<KernelAndKeys> {};

// 50 queries make blocks of 4 warps where tiles of keys take turns, 70 make blocks of 5.
TEST_P(SimtForwardKernel, KeepsTheLimits) {
  const auto& [resident, keys] = GetParam();
  // Here 64 columns of 128 keys and values fit.
  const Layout layout{.shared_bytes = resident ? kSmallestChip.shared_bytes : 38'000};
  for (const int queries : {1, 50, 70}) {
    const GoldenCase golden = formula_case({queries, keys, 64});
    for (const Element element : {Element::bf16, Element::f16}) {
      SCOPED_TRACE(std::to_string(queries) + " queries, " + type_name(element));
      const ForwardResult result = run_forward(golden, element, layout);
      EXPECT_EQ(result.kernel, resident ? "tensor cores, keys resident" : "tensor cores");
      const auto compare = [&](const std::vector<float>& got, const char* name) {
        expect_near(got, golden.tensors.at(name).values, golden.limit(name, element), name);
      };
      compare(result.out, "out");
      compare(result.lse, "lse");
    }
  }
}

std::string kernel_and_keys_name(const testing::TestParamInfo<KernelAndKeys>& info) {
  return (std::get<0>(info.param) ? "resident_" : "tiles_") +
         std::to_string(std::get<1>(info.param));
}

// Around steps of 16 keys, tiles of 64, the numbers of steps that kernels are made for, and 64 k
// + 1.
INSTANTIATE_TEST_SUITE_P(Resident, SimtForwardKernel,
                         testing::Combine(testing::Values(true),
                                          testing::Values(1, 2, 16, 17, 63, 64, 65, 66, 80, 81, 129,
                                                          193, 197, 208, 209, 224, 240, 256, 257,
                                                          258, 288)),
                         kernel_and_keys_name);
INSTANTIATE_TEST_SUITE_P(Tiles, SimtForwardKernel,
                         testing::Combine(testing::Values(false),
                                          testing::Values(130, 191, 192, 193, 194, 197, 257, 288,
                                                          289, 321)),
                         kernel_and_keys_name);

TEST(SimtForwardChoice, NamesItsKernel) {
  ForwardProblem problem;
  problem.batch = problem.heads = 1;
  problem.queries = problem.keys = 197;
  problem.width = 64;
  problem.element = Element::bf16;
  EXPECT_STREQ(supports(problem, kSmallestChip).kernel, "tensor cores, keys resident");
  EXPECT_STREQ(supports(problem, Chip{48 * 1024}).kernel, "tensor cores");
  problem.visible.causal = true;
  EXPECT_STREQ(supports(problem, kSmallestChip).kernel, "tensor cores, general scores");
  EXPECT_STREQ(supports(problem, Chip{16 * 1024}).kernel, "scalar");
  problem.width = 63;
  EXPECT_STREQ(supports(problem, kSmallestChip).kernel, "scalar");
  problem.width = 136;
  EXPECT_STREQ(supports(problem, kSmallestChip).unsupported, "head width is not 1 to 128");
}

TEST(SimtForwardChoice, WithoutQueriesOrBatchThereIsNothingToDo) {
  ForwardProblem problem;
  problem.batch = problem.heads = 1;
  problem.keys = 5;
  problem.width = 16;
  for (const Element element : {Element::f32, Element::f16}) {
    problem.element = element;
    EXPECT_EQ(launch(problem, kSmallestChip, nullptr), nullptr);
    ForwardProblem no_batch = problem;
    no_batch.batch = 0;
    no_batch.queries = 5;
    EXPECT_EQ(launch(no_batch, kSmallestChip, nullptr), nullptr);
  }
}

}  // namespace
}  // namespace simt
