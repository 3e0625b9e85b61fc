#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <vector>

#include "vit/random_numbers.h"

/// \file
/// Drop path, or stochastic depth: in training a block's branch is left out for some samples (Huang
/// et al. 2016, arXiv:1603.09382).
namespace vitascope::train {

/// rate i / (depth - 1) for block i: from 0 to `rate` (DeiT, timm).
/// \param rate 0 or more, below 1
/// \throws UsageError when it is not
std::vector<double> drop_path_rates(int depth, double rate);

/// What each sample's branch is multiplied by: 0, or 1 / (1 - rate) so that the mean stays.
/// \return [batch] float32
at::Tensor drop_path_scales(std::int64_t batch, double rate, RandomNumbers& random);

}  // namespace vitascope::train
