#pragma once

#include "kernels/cuda/plan.cuh"
#include "kernels/cuda/score.cuh"

/// \file
/// What the kernels of the backward pass have in common (FlashAttention-2, arXiv:2307.08691). None
/// adds atomically, so that repeated runs are equal bit by bit. Where a block cannot have all keys,
/// there are two passes over the scores: blocks of queries write dq and, for the second, delta;
/// blocks of keys write dk and dv.
namespace vitascope::kernels::cuda {

/// The problem and the row sums of dout * out, which the first pass leaves to the second.
struct BackwardTask : BackwardProblem {
  float* delta = nullptr;  ///< [B, H, Nq]
};

/// The two passes, or one that does all and leaves nothing to the second.
struct BackwardPlan {
  Plan<BackwardTask> queries, keys;
};

/// One pass by tensor cores with all keys in one block. Its function is nullptr where they do not
/// fit, where there are masks, bias or dropout, or where tensor cores do not serve.
Plan<BackwardTask> plan_resident_backward(const BackwardProblem& problem, const Chip& chip);

/// Without tensor cores: every type, every width to 128.
BackwardPlan plan_scalar_backward(const BackwardProblem& problem);

/// What the second pass needs of a query: as if infinitely far above every score where the query
/// sees nothing or is not there, so that all its probabilities become 0.
__device__ __forceinline__ float safe_lse(const BackwardProblem& problem, const Place& place,
                                          std::int64_t query) {
  if (query >= problem.queries) return -VITASCOPE_MINUS_INFINITY;
  const float lse =
      problem.lse[(place.batch * problem.heads + place.head) * problem.queries + query];
  return lse == VITASCOPE_MINUS_INFINITY ? -VITASCOPE_MINUS_INFINITY : lse;
}

/// A probability, dropped or not, and what score's gradient belongs to it.
struct Weight {
  float probability, gradient;
};

/// \param score what score_of gives
/// \param product of dout and v; NaN and infinity do not matter where the probability is 0
/// \param factor what dropout multiplies by: 0 or 1 / (1 - its probability)
__device__ __forceinline__ Weight weight_of(float score, float lse, float product, float delta,
                                            float factor) {
  const float probability = exp2_approx((score - lse) * kLog2e);
  if (probability == 0) return {0, 0};
  return {probability * factor, probability * (product * factor - delta)};
}

}  // namespace vitascope::kernels::cuda
