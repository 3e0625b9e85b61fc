#pragma once

#include "vit/explain/map.h"
#include "vit/explain/record.h"

/// \file
/// Class-specific relevance (Chefer et al., ICCV 2021, arXiv:2103.15679).
namespace vitascope::explain {

/// map = w (I + C_L) ... (I + C_1), w the readout, C = mean_h relu(P_h * dP_h), dP = d logit / d P
/// of the class whose gradients were taken.
Map relevance(const Recorded& recorded, std::int64_t picture = 0);

/// The rows `start` [R, N] of that product, last layer first; float32 [R, N].
at::Tensor relevance_rows(const Recorded& recorded, const at::Tensor& start,
                          std::int64_t picture = 0);

}  // namespace vitascope::explain
