#include "tests/simt/expectation.h"

namespace simt {
namespace {

using vitascope::kernels::BackwardProblem;
using vitascope::kernels::cuda::launch;

/// Gradients in the order [B, H, N, D].
struct Gradients {
  std::vector<float> dq, dk, dv;
};

Gradients run_backward(const GoldenCase& golden, Element element, std::size_t misalignment = 0,
                       bool lengths_as_mask = false) {
  const DeviceInputs inputs(golden, element, misalignment, lengths_as_mask);
  BackwardProblem problem;
  inputs.describe(problem);
  const DeviceArray out(in_planes(golden, "out"), element, misalignment);
  const DeviceArray dout(in_planes(golden, "dout"), element, misalignment);
  const DeviceArray lse(golden.tensors.at("lse").values, Element::f32);
  const DeviceArray delta(lse.size(), Element::f32);
  const std::int64_t planes_of_keys = problem.batch * problem.heads * problem.keys;
  const DeviceArray dq(out.size(), element, misalignment);
  const DeviceArray dk(planes_of_keys * problem.width, element, misalignment);
  const DeviceArray dv(planes_of_keys * problem.width, element, misalignment);
  problem.out = out.data();
  problem.dout = dout.data();
  problem.out_strides = problem.dout_strides =
      planes(problem.heads, problem.queries, problem.width);
  problem.lse = static_cast<const float*>(lse.data());
  problem.dq = dq.data();
  problem.dk = dk.data();
  problem.dv = dv.data();
  problem.dq_strides = rows_of_heads(problem.heads, problem.queries, problem.width);
  problem.dk_strides = problem.dv_strides =
      rows_of_heads(problem.heads, problem.keys, problem.width);
  const char* unsupported =
      launch(problem, static_cast<float*>(delta.data()), kSmallestChip, nullptr);
  if (unsupported != nullptr) throw std::runtime_error(unsupported);
  const auto read = [&](const DeviceArray& array, std::int64_t tokens) {
    return from_rows_of_heads(array, problem.batch, problem.heads, tokens, problem.width);
  };
  return {read(dq, problem.queries), read(dk, problem.keys), read(dv, problem.keys)};
}

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
  const Gradients got = run_backward(golden, element, 0, lengths_as_mask);
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
      const Gradients got = run_backward(golden, Element::f16, seed % 3 * 2);  // 0, 2 or 4 bytes
      EXPECT_EQ(got.dq, first.dq) << name << ", seed " << seed;
      EXPECT_EQ(got.dk, first.dk) << name << ", seed " << seed;
      EXPECT_EQ(got.dv, first.dv) << name << ", seed " << seed;
    }
  }
}

}  // namespace
}  // namespace simt
