#pragma once

#include "vit/explain/map.h"
#include "vit/explain/record.h"

/// \file
/// LeGrad: how sensitive each layer's answer is to its attention (Bousselham et al., ICCV 2025,
/// arXiv:2404.03214).
namespace vitascope::explain {

/// map_j = mean_{l,h,i} relu(d s_l / d P_lh[i, prefix + j]), s_l the class's logit of layer l's
/// tokens: their mean through the final norm and the head. Each s_l counts its own layer's
/// probabilities alone. The authors take the mean over tokens for models with a class token too,
/// and so do we.
Map legrad(const Recorded& recorded, std::int64_t picture = 0);

}  // namespace vitascope::explain
