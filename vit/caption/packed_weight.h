#pragma once

#include "kernels/linear.h"

/// \file
/// Weights of a captioner made quick for answers alone.
namespace vitascope::caption {

/// Packs a weight that lies plain on the CPU. \see kernels::pack
inline void pack_weight(kernels::Weight& weight) {
  if (weight.weight.is_cpu() && !weight.weight.is_mkldnn()) {
    weight.weight = kernels::pack(weight.weight);
  }
}

}  // namespace vitascope::caption
