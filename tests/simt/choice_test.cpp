// Which kernel serves which problem on which GPU, and what share of its work is of use.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <map>
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
  /// The widest head of which all keys and values are to stay in shared memory. At N = 288, D = 80,
  /// the smaller chips have not a byte to spare; at D = 128, registers are what is missing.
  std::map<std::int64_t, std::int64_t> widest_resident;
};
const NamedChip kChips[] = {{"sm_80", {163 * 1024}, {{197, 128}, {257, 96}, {288, 96}}},
                            {"sm_89", {99 * 1024}, {{197, 96}, {257, 80}, {288, 80}}},
                            {"sm_90", {227 * 1024}, {{197, 128}, {257, 96}, {288, 96}}},
                            {"sm_100", {227 * 1024}, {{197, 128}, {257, 96}, {288, 96}}},
                            {"sm_120", {99 * 1024}, {{197, 96}, {257, 80}, {288, 80}}}};

void print_choice(const NamedChip& chip, const char* pass, std::int64_t tokens, std::int64_t width,
                  const Choice& choice) {
  std::printf("%-7s %-8s N %4lld D %3lld: %s, %lld blocks of %u threads, %lld bytes shared\n",
              chip.name, pass, static_cast<long long>(tokens), static_cast<long long>(width),
              choice.unsupported != nullptr ? choice.unsupported : choice.kernel,
              static_cast<long long>(choice.blocks), choice.threads,
              static_cast<long long>(choice.shared_bytes));
}

/// The forward pass: keys and values stay where they fit, and not where a byte is missing.
void expect_forward_choice(const NamedChip& chip, const ForwardProblem& problem) {
  const Choice choice = supports(problem, chip.chip);
  print_choice(chip, "forward", problem.keys, problem.width, choice);
  EXPECT_EQ(choice.unsupported, nullptr);
  EXPECT_LE(choice.shared_bytes, chip.chip.shared_bytes);
  // Warps' tiles of 16 queries, and the warps that take them, of one (batch, head).
  const auto tiles = static_cast<double>((problem.queries + 15) / 16);
  const auto warps =
      static_cast<double>(choice.blocks / (problem.batch * problem.heads) * choice.threads / 32);
  const auto widest = chip.widest_resident.find(problem.keys);
  if (widest == chip.widest_resident.end() || problem.width > widest->second) {
    EXPECT_STREQ(choice.kernel, "tensor cores");
    EXPECT_GE(tiles / warps, 0.8);
    // No block for the last of 64 k + 1 queries alone.
    if (problem.queries % 64 == 1 && problem.width <= 96) {
      EXPECT_EQ(choice.threads, 160u);
    }
    return;
  }
  EXPECT_STREQ(choice.kernel, "tensor cores, keys resident");
  EXPECT_LE(choice.threads, 256u);  // more have no registers
  // Each block fetches all keys: one for a (batch, head), or two where two fit at once.
  const std::int64_t fit = (chip.chip.shared_bytes + 1024) / (choice.shared_bytes + 1024);
  EXPECT_LE(choice.blocks, std::min<std::int64_t>(fit, 2) * problem.batch * problem.heads);
  EXPECT_GE(tiles / warps / std::ceil(tiles / warps), 0.8);
  EXPECT_LE(tiles / warps, 3);
  EXPECT_STREQ(supports(problem, Chip{choice.shared_bytes}).kernel, choice.kernel);
  EXPECT_STREQ(supports(problem, Chip{choice.shared_bytes - 1}).kernel, "tensor cores");
}

TEST(SimtChoice, IsTensorCoresForEveryVisionTransformer) {
  for (const NamedChip& chip : kChips) {
    for (const std::int64_t tokens : {197, 257, 288, 577, 1025, 1370}) {
      for (const std::int64_t width : {64, 72, 80, 96, 128}) {
        BackwardProblem backward;
        backward.batch = 8;
        backward.heads = 12;
        backward.queries = backward.keys = tokens;
        backward.width = width;
        backward.element = Element::bf16;
        ForwardProblem forward;
        static_cast<vitascope::kernels::AttentionProblem&>(forward) = backward;
        expect_forward_choice(chip, forward);
        const Choice back = supports(backward, chip.chip);
        print_choice(chip, "backward", tokens, width, back);
        EXPECT_EQ(std::string(back.kernel).rfind("tensor cores", 0), 0u);
        EXPECT_EQ(back.unsupported, nullptr);
      }
    }
  }
}

// Counted: products that tensor cores did, against those that the formula asks for. The first key
// of 64 k + 1 is done without them: a product and a sum of D for each query, rows of a last tile
// that are no queries included, which count as if tensor cores had done them. They take the
// multipliers of a lane, though, of which there are 16 or 32 for the 256 to 1024 of a tensor core.
TEST(SimtChoice, MostOfTheWorkIsOfUse) {
  const std::map<std::int64_t, double> least{{197, 0.86}, {257, 0.94},  {288, 0.99},
                                             {577, 0.97}, {1025, 0.98}, {1370, 0.98}};
  for (const auto& [tokens, share] : least) {
    const GoldenCase golden = formula_inputs({tokens, tokens, 64});
    constexpr double kProduct = 16 * 8 * 16;
    const double asked = 2 * static_cast<double>(tokens * tokens * 64) / kProduct;
    counts() = {};
    const std::string kernel = run_forward(golden, Element::bf16).kernel;
    const std::int64_t rows = (tokens + 15) / 16 * 16;
    const double peeled = tokens % 64 == 1 ? 2 * static_cast<double>(rows * 64) / kProduct : 0;
    const double forward = asked / (static_cast<double>(counts().products) + peeled);
    EXPECT_EQ(counts().conflicting, 0u);
    std::printf("N %4lld: forward %.3f of the work is of use (%s)\n",
                static_cast<long long>(tokens), forward, kernel.c_str());
    EXPECT_GE(forward, share);
    EXPECT_LE(forward, 1);
  }
}

TEST(SimtChoice, LoadsOfFragmentsHaveNoBankConflicts) {
  for (const std::int64_t width : {16, 32, 64, 80, 96, 128}) {
    const GoldenCase golden = formula_case({70, 70, width});
    counts() = {};
    run_forward(golden, Element::f16);
    run_forward(formula_inputs({70, 289, width}), Element::f16);  // by tiles
    run_backward(golden, Element::f16);
    EXPECT_GT(counts().loads, 0u);
    EXPECT_EQ(counts().conflicting, 0u) << width;
  }
}

}  // namespace
}  // namespace simt
