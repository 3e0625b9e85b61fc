#pragma once

#include <cstdint>

#include "tests/simt/golden_case.h"

/// \file
/// Attention by its formula in float64, for sizes that tests/golden does not hold.
namespace simt {

struct FormulaProblem {
  std::int64_t queries = 0, keys = 0, width = 0;  ///< of one head
  float dropout = 0;
  std::uint64_t seed = 1;  ///< of the inputs, which are exact in bfloat16 and in float16
};

/// A case as read_golden_case gives it, with its answers. Its errors are those of an ideal fused
/// kernel: scores, sums and lse in float32, P and dS rounded to the type of the inputs before the
/// second products, the backward pass from lse, results rounded.
GoldenCase formula_case(const FormulaProblem& problem);

/// The same inputs without answers.
GoldenCase formula_inputs(const FormulaProblem& problem);

}  // namespace simt
