#pragma once

#include <ATen/core/Tensor.h>

#include "vit/model/config.h"

/// \file
/// Position embeddings that are computed, not learned.
namespace vitascope::model {

/// Sines and cosines of Vaswani et al. 2017 in two dimensions, as MAE has them (He et al. 2022,
/// arXiv:2111.06377): the first half of a row tells the column, the second half the row of the
/// grid, each as sin(p w_i) for all i, then cos(p w_i), with w_i = 10000^(-i / (width / 4)).
/// \param prefix rows of zeros in front, for tokens that stand nowhere
/// \return float32 [1, prefix + grid.count(), width]
/// \throws std::invalid_argument when the width is no multiple of 4
at::Tensor sincos_positions(int width, Grid grid, int prefix);

}  // namespace vitascope::model
