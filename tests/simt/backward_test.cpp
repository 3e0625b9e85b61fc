#include "tests/simt/expectation.h"
#include "tests/simt/kernel_runs.h"

namespace simt {
namespace {

/// Rows of `got` are exactly 0 where those of the case's `hides` are.
void expect_exact_zeros(const std::vector<float>& got, const std::vector<float>& hides,
                        std::size_t width, const char* name) {
  for (std::size_t row = 0; row < hides.size(); row += width) {
    const auto zero = [&](const std::vector<float>& values) {
      return std::all_of(values.begin() + row, values.begin() + row + width,
                         [](float x) { return x == 0; });
    };
    EXPECT_TRUE(!zero(hides) || zero(got)) << name << " row " << row / width;
  }
}

void expect_backward(const GoldenCase& golden, Element element, bool lengths_as_mask = false) {
  const Gradients got = run_backward(golden, element, {.lengths_as_mask = lengths_as_mask});
  const auto compare = [&](const std::vector<float>& gradient, const char* name) {
    expect_near(gradient, in_planes(golden, name), golden.limit(name, element), name);
  };
  compare(got.dq, "dq");
  compare(got.dk, "dk");
  compare(got.dv, "dv");
  // A query that sees no key has no out and no gradient; a key that no query sees has neither dv
  // nor dk.
  const std::size_t width = golden.size("D");
  expect_exact_zeros(got.dq, in_planes(golden, "out"), width, "dq");
  expect_exact_zeros(got.dk, in_planes(golden, "dv"), width, "dk");
  expect_exact_zeros(got.dv, in_planes(golden, "dv"), width, "dv");
}

class SimtBackward : public testing::TestWithParam<CaseAndType> {};

TEST_P(SimtBackward, KeepsTheLimits) {
  const auto& [name, element] = GetParam();
  set_seed(1);
  expect_backward(read_golden_case(name), element);
}

INSTANTIATE_TEST_SUITE_P(Golden, SimtBackward, every_case_and_type(), case_and_type_name);

// By lengths, hidden keys are never read; by a mask they are, NaN and infinity included.
TEST(SimtBackwardMask, HidesPoisonedKeys) {
  for (const char* name : {"poison_n17_d32", "poison_n50_d32", "poison_dead_n16_d16"}) {
    for (const Element element : {Element::f32, Element::bf16, Element::f16}) {
      SCOPED_TRACE(name + type_name(element));
      expect_backward(read_golden_case(name), element, true);
    }
  }
}

// No order of threads changes a bit of the gradients, and neither does how rows are fetched.
TEST(SimtBackwardLayout, OrderOfThreadsAndAlignmentChangeNothing) {
  for (const char* name :
       {"self_n97_d32", "self_n17_d72", "packed_n17_h3_d16", "padding_n50_d16"}) {
    const GoldenCase golden = read_golden_case(name);
    const Gradients first = run_backward(golden, Element::f16);
    for (std::uint64_t seed = 3; seed < 9; ++seed) {
      set_seed(seed);
      const Gradients got =
          run_backward(golden, Element::f16, {.misalignment = seed % 3 * 2});  // 0, 2 or 4 bytes
      EXPECT_EQ(got.dq, first.dq) << name << ", seed " << seed;
      EXPECT_EQ(got.dk, first.dk) << name << ", seed " << seed;
      EXPECT_EQ(got.dv, first.dv) << name << ", seed " << seed;
    }
  }
}

}  // namespace
}  // namespace simt
