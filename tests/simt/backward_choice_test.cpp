// Where the backward pass is one kernel with all keys in a block, what it keeps, and what it saves.
#include <algorithm>
#include <cstdio>
#include <map>
#include <string>

#include "tests/simt/expectation.h"
#include "tests/simt/formula.h"
#include "tests/simt/instructions.h"
#include "tests/simt/kernel_runs.h"

namespace simt {
namespace {

using vitascope::kernels::BackwardProblem;
using vitascope::kernels::cuda::Choice;
using vitascope::kernels::cuda::supports;

constexpr std::int64_t kLeast = 99 * 1024, kMost = 227 * 1024;  // of a block on sm_89 and on sm_90

Choice choice_for(std::int64_t tokens, std::int64_t width, std::int64_t shared_bytes) {
  BackwardProblem problem;
  problem.batch = 8;
  problem.heads = 12;
  problem.queries = problem.keys = tokens;
  problem.width = width;
  problem.element = Element::bf16;
  return supports(problem, {shared_bytes});
}

bool is_resident(const Choice& choice) {
  return std::string(choice.kernel).find("one pass") != std::string::npos;
}

/// KB of shared memory that a block needs to have for one kernel to serve: what some GPU has, or 0
/// where none has enough, or where registers are too few for the sums of dk and dv.
std::int64_t expected_kilobytes(std::int64_t tokens, std::int64_t width) {
  if (tokens > 288) return 0;
  if (width == 64) return tokens == 197 ? 99 : 163;
  if (width <= 80) return 163;
  if (width == 128 && tokens > 197) return 0;
  return 227;
}

TEST(SimtBackwardChoice, IsOneKernelWhereAllFits) {
  const std::pair<const char*, std::int64_t> chips[] = {
      {"sm_80", 163}, {"sm_89", 99}, {"sm_90", 227}, {"sm_100", 227}, {"sm_120", 99}};
  for (const auto& [chip, kilobytes] : chips) {
    for (const std::int64_t tokens : {197, 257, 288, 577, 1025, 1370}) {
      for (const std::int64_t width : {64, 72, 80, 96, 128}) {
        const Choice choice = choice_for(tokens, width, kilobytes * 1024);
        std::printf("%-6s N %4d D %3d: %s, %d blocks of %u threads, %d bytes shared\n", chip,
                    static_cast<int>(tokens), static_cast<int>(width), choice.kernel,
                    static_cast<int>(choice.blocks), choice.threads,
                    static_cast<int>(choice.shared_bytes));
        const std::int64_t least = expected_kilobytes(tokens, width);
        EXPECT_EQ(is_resident(choice), least > 0 && least <= kilobytes) << choice.kernel;
        EXPECT_EQ(choice.unsupported, nullptr);
        EXPECT_LE(choice.shared_bytes, kilobytes * 1024);
      }
    }
  }
}

// With one byte less than it says it needs, something else is chosen, in the end the two passes.
TEST(SimtBackwardChoice, NeedsEveryByte) {
  for (const std::int64_t tokens : {50, 197, 257, 288}) {
    for (const std::int64_t width : {16, 32, 64, 72, 80, 96}) {
      Choice choice = choice_for(tokens, width, kMost);
      EXPECT_TRUE(is_resident(choice)) << tokens << " x " << width;
      while (is_resident(choice)) {
        EXPECT_STREQ(choice_for(tokens, width, choice.shared_bytes).kernel, choice.kernel);
        const Choice next = choice_for(tokens, width, choice.shared_bytes - 1);
        EXPECT_LT(next.shared_bytes, choice.shared_bytes);
        choice = next;
      }
      EXPECT_STREQ(choice.kernel, "tensor cores");
    }
  }
}

/// The layout in which a case goes to the two passes.
Layout two_passes_for(const GoldenCase& golden, Element element) {
  Layout layout{.shared_bytes = kMost};
  for (Choice choice; choice = backward_choice(golden, element, layout), is_resident(choice);) {
    layout.shared_bytes = choice.shared_bytes - 1;
  }
  return layout;
}

void expect_gradients(const GoldenCase& golden, Element element, const Layout& layout) {
  const Gradients got = run_backward(golden, element, layout);
  const auto compare = [&](const std::vector<float>& gradient, const char* name) {
    expect_near(gradient, in_planes(golden, name), golden.limit(name, element), name);
  };
  compare(got.dq, "dq");
  compare(got.dk, "dk");
  compare(got.dv, "dv");
}

// Five products of N x N x D where the two passes have seven: for 64 tokens nothing is padding.
TEST(SimtBackwardResident, MakesScoresOnce) {
  const GoldenCase golden = formula_case({64, 64, 64});
  constexpr std::uint64_t kProduct = 64 * 64 * 64 / (16 * 8 * 16);
  counts() = {};
  expect_gradients(golden, Element::bf16, {});
  EXPECT_EQ(counts().products, 5 * kProduct);
  counts() = {};
  expect_gradients(golden, Element::bf16, two_passes_for(golden, Element::bf16));
  EXPECT_EQ(counts().products, 7 * kProduct);
}

// What fits goes to the one kernel by itself: the other cases' tests are its tests as well. Here
// the two passes have the same cases.
class SimtBackwardTwoPasses : public testing::TestWithParam<CaseAndType> {};

TEST_P(SimtBackwardTwoPasses, KeepTheLimits) {
  const auto& [name, element] = GetParam();
  const GoldenCase golden = read_golden_case(name);
  const Layout layout = two_passes_for(golden, element);
  if (is_resident(backward_choice(golden, element))) expect_gradients(golden, element, layout);
}

INSTANTIATE_TEST_SUITE_P(Golden, SimtBackwardTwoPasses, every_case_and_type(), case_and_type_name);

/// Sizes around those of vision transformers, on the GPU with the most shared memory.
class SimtBackwardResidentSizes : public testing::TestWithParam<std::tuple<int, int>> {};

TEST_P(SimtBackwardResidentSizes, KeepTheLimits) {
  const auto [tokens, width] = GetParam();
  const GoldenCase golden = formula_case({tokens, tokens, width});
  for (const Element element : {Element::bf16, Element::f16}) {
    SCOPED_TRACE(type_name(element));
    const Layout layout{.shared_bytes = kMost};
    const int most = width == 128 ? 256 : width == 96 ? 288 : 384;
    EXPECT_EQ(is_resident(backward_choice(golden, element, layout)), tokens <= most);
    counts() = {};
    expect_gradients(golden, element, layout);
    EXPECT_EQ(counts().conflicting, 0u);
  }
}

INSTANTIATE_TEST_SUITE_P(Formula, SimtBackwardResidentSizes,
                         testing::Combine(testing::Values(129, 197, 256, 257, 288, 289),
                                          testing::Values(64, 72, 80, 96, 128)),
                         [](const auto& info) {
                           return "n" + std::to_string(std::get<0>(info.param)) + "_d" +
                                  std::to_string(std::get<1>(info.param));
                         });

// As many keys as there may be, at once or in parts; fewer and more queries than keys.
TEST(SimtBackwardResident, TakesAsManyKeysAsThereIsRoomFor) {
  const Layout layout{.shared_bytes = kMost};
  for (const auto& [keys, width] : std::map<int, int>{{384, 32}, {256, 64}, {381, 64}, {192, 96}}) {
    for (const int queries : {1, 33, 130}) {
      SCOPED_TRACE(std::to_string(queries) + ", " + std::to_string(keys));
      const GoldenCase golden = formula_case({queries, keys, width});
      EXPECT_TRUE(is_resident(backward_choice(golden, Element::bf16, layout)));
      expect_gradients(golden, Element::bf16, layout);
    }
  }
}

// No order of threads changes a bit, and neither does how rows are fetched and written.
TEST(SimtBackwardResident, OrderOfThreadsAndAlignmentChangeNothing) {
  for (const auto& [tokens, width] :
       std::map<int, int>{{70, 64}, {130, 128}, {200, 96}, {261, 64}}) {
    const GoldenCase golden = formula_case({tokens, tokens, width});
    set_seed(1);
    const Gradients first = run_backward(golden, Element::bf16, {.shared_bytes = kMost});
    for (std::uint64_t seed = 2; seed < 5; ++seed) {
      set_seed(seed);
      const Gradients got = run_backward(golden, Element::bf16,
                                         {.misalignment = seed % 3 * 2, .shared_bytes = kMost});
      EXPECT_EQ(got.dq, first.dq) << tokens << ", seed " << seed;
      EXPECT_EQ(got.dk, first.dk) << tokens << ", seed " << seed;
      EXPECT_EQ(got.dv, first.dv) << tokens << ", seed " << seed;
    }
  }
}

}  // namespace
}  // namespace simt
