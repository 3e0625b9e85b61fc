// Which kernel serves which problem on which GPU, and what share of its work is of use.
#include <cstdio>
#include <string>

#include "kernels/cuda/attention.cuh"
#include "tests/simt/expectation.h"
#include "tests/simt/formula.h"
#include "tests/simt/instructions.h"
#include "tests/simt/kernel_runs.h"

namespace simt {
namespace {

using vitascope::kernels::BackwardProblem;
using vitascope::kernels::ForwardProblem;
using vitascope::kernels::cuda::Chip;
using vitascope::kernels::cuda::Choice;
using vitascope::kernels::cuda::supports;

/// Dynamic shared memory of a block, by compute capability (CUDA C++ Programming Guide).
struct NamedChip {
  const char* name;
  Chip chip;
};
constexpr NamedChip kChips[] = {{"sm_80", {163 * 1024}},
                                {"sm_89", {99 * 1024}},
                                {"sm_90", {227 * 1024}},
                                {"sm_100", {227 * 1024}},
                                {"sm_120", {99 * 1024}}};

void print_choice(const NamedChip& chip, const char* pass, std::int64_t tokens, std::int64_t width,
                  const Choice& choice) {
  std::printf("%-7s %-8s N %4lld D %3lld: %s, %lld blocks of %u threads, %lld bytes shared\n",
              chip.name, pass, static_cast<long long>(tokens), static_cast<long long>(width),
              choice.unsupported != nullptr ? choice.unsupported : choice.kernel,
              static_cast<long long>(choice.blocks), choice.threads,
              static_cast<long long>(choice.shared_bytes));
}

TEST(SimtChoice, IsTensorCoresForEveryVisionTransformer) {
  for (const NamedChip& chip : kChips) {
    for (const std::int64_t tokens : {197, 257, 577, 1025, 1370}) {
      for (const std::int64_t width : {64, 72, 80, 96, 128}) {
        BackwardProblem backward;
        backward.batch = 8;
        backward.heads = 12;
        backward.queries = backward.keys = tokens;
        backward.width = width;
        backward.element = Element::bf16;
        ForwardProblem forward;
        static_cast<vitascope::kernels::AttentionProblem&>(forward) = backward;
        const Choice choice = supports(forward, chip.chip);
        print_choice(chip, "forward", tokens, width, choice);
        EXPECT_STREQ(choice.kernel, "tensor cores");
        EXPECT_EQ(choice.unsupported, nullptr);
        const Choice back = supports(backward, chip.chip);
        print_choice(chip, "backward", tokens, width, back);
        EXPECT_EQ(std::string(back.kernel).rfind("tensor cores", 0), 0u);
        EXPECT_EQ(back.unsupported, nullptr);
      }
    }
  }
}

// Counted: products that tensor cores did, against those that the formula asks for.
TEST(SimtChoice, MostOfTheWorkIsOfUse) {
  for (const std::int64_t tokens : {197, 257, 577, 1025, 1370}) {
    const GoldenCase golden = formula_inputs({tokens, tokens, 64});
    const double asked = static_cast<double>(tokens * tokens * 64) / (16 * 8 * 16);
    counts() = {};
    run_forward(golden, Element::bf16);
    const double forward = 2 * asked / static_cast<double>(counts().products);
    EXPECT_EQ(counts().conflicting, 0u);
    std::printf("N %4lld: forward %.3f of the work is of use\n", static_cast<long long>(tokens),
                forward);
    EXPECT_GE(forward, 0.86);
    EXPECT_LE(forward, 1);
  }
}

TEST(SimtChoice, LoadsOfFragmentsHaveNoBankConflicts) {
  for (const std::int64_t width : {16, 32, 64, 80, 96, 128}) {
    const GoldenCase golden = formula_case({70, 70, width});
    counts() = {};
    run_forward(golden, Element::f16);
    run_backward(golden, Element::f16);
    EXPECT_GT(counts().loads, 0u);
    EXPECT_EQ(counts().conflicting, 0u) << width;
  }
}

}  // namespace
}  // namespace simt
