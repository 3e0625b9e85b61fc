#pragma once

#include "vit/explain/map.h"
#include "vit/explain/record.h"

/// \file
/// Grad-CAM on the tokens that the last block's attention reads (Selvaraju et al. 2017,
/// arXiv:1610.02391).
namespace vitascope::explain {

/// map_j = relu(sum_d a_d X_jd), a_d = mean_j(d logit / d X_jd), X the last block's norm1 output
/// and j the patches. \param positive_only the relu; without it patches that speak against the
/// class are negative
Map gradcam(const Recorded& recorded, bool positive_only = true, std::int64_t picture = 0);

}  // namespace vitascope::explain
