#pragma once

#include "vit/explain/attention_maps.h"
#include "vit/explain/map.h"
#include "vit/explain/record.h"

/// \file
/// Attention rollout: attention followed through all layers (Abnar and Zuidema 2020,
/// arXiv:2005.00928).
namespace vitascope::explain {

/// Which entries of a fused matrix may be discarded. The first is the rule of the program
/// vit-explain, the second reads its intention.
enum class DiscardRule {
  keep_first,         ///< all but class token -> class token, the flat entry 0
  keep_class_column,  ///< what every token pays to the class token is kept
  keep_nothing        ///< any
};

/// How rollout is computed.
struct RolloutOptions {
  HeadFusion fusion = HeadFusion::mean;  ///< of probabilities; gradient rollout takes the mean
  double discard = 0;                    ///< this share of each matrix, the lowest, becomes 0
  DiscardRule rule = DiscardRule::keep_first;
};

/// map = w A_L ... A_1, w the readout, A = rows of (F + I) / 2 divided by their sum, F = fuse_h P_h
/// without the discarded entries.
/// \throws std::invalid_argument when `discard` is not in [0, 1), or the rule speaks of a class
///         token that the model lacks
Map rollout(const Recorded& recorded, const RolloutOptions& options = {}, std::int64_t picture = 0);

/// The same with F = relu(mean_h(P_h * dP_h)) of the same layer; dP = d logit / d P of the class
/// whose gradients were taken.
Map gradient_rollout(const Recorded& recorded, const RolloutOptions& options = {},
                     std::int64_t picture = 0);

/// The rows `start` [R, N] of A_L ... A_1 by products of R rows with one layer's matrix after the
/// other, last layer first; float32 [R, N].
at::Tensor rollout_rows(const Recorded& recorded, const RolloutOptions& options,
                        const at::Tensor& start, std::int64_t picture = 0);

/// Zeroes the floor(share * candidates) lowest candidates of a fused matrix [N, N], on the CPU; of
/// equal ones the first.
void discard_lowest(at::Tensor& fused, double share, DiscardRule rule);

}  // namespace vitascope::explain
