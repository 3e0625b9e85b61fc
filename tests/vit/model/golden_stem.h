#pragma once

#include <ATen/ATen.h>

#include <cstring>
#include <string>

#include "tests/golden.h"
#include "vit/weights/safetensors.h"

/// \file
/// tests/golden/stem.safetensors.
namespace vitascope::model::tests {

/// One of its tensors, a copy.
inline at::Tensor golden_stem(const std::string& name) {
  static const weights::StoredTensors all =
      weights::read_safetensors(vitascope::tests::golden("stem.safetensors"));
  const weights::StoredTensor& stored = all.tensors.at(name);
  at::Tensor tensor = at::empty(stored.shape, at::kFloat);
  std::memcpy(tensor.mutable_data_ptr(), stored.bytes.data(), stored.bytes.size());
  return tensor;
}

}  // namespace vitascope::model::tests
