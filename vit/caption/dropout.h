#pragma once

#include <ATen/core/Tensor.h>

#include "vit/random_numbers.h"

/// \file
/// Dropout with seeded random numbers (Srivastava et al. 2014).
namespace vitascope::caption {

/// Sets numbers to 0 with probability `rate` and scales the others by 1 / (1 - rate).
struct Dropout {
  double rate = 0;
  RandomNumbers* random = nullptr;  ///< needed where the rate is above 0

  /// x itself when the rate is 0.
  at::Tensor operator()(const at::Tensor& x) const;
};

}  // namespace vitascope::caption
