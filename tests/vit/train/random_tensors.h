#pragma once

#include <ATen/ATen.h>

#include <cstdint>
#include <vector>

#include "vit/random_numbers.h"

/// \file
/// Tensors to try arithmetic on.
namespace vitascope::train::tests {

/// float32 of the normal distribution.
inline at::Tensor normal_tensor(const std::vector<std::int64_t>& shape, std::uint64_t seed) {
  at::Tensor tensor = at::empty(shape, at::kFloat);
  RandomNumbers random(seed);
  auto* value = tensor.mutable_data_ptr<float>();
  for (std::int64_t i = 0; i < tensor.numel(); ++i) value[i] = static_cast<float>(random.normal());
  return tensor;
}

}  // namespace vitascope::train::tests
