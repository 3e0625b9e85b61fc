#pragma once

#include <ATen/ATen.h>

#include <cstring>
#include <map>
#include <string>

#include "tests/golden.h"
#include "vit/weights/safetensors.h"

/// \file
/// Tensors of tests/golden/*.safetensors.
namespace vitascope::model::tests {

/// A copy of one.
inline at::Tensor golden_tensor(const std::string& file, const std::string& name) {
  static std::map<std::string, weights::StoredTensors> opened;
  auto found = opened.find(file);
  if (found == opened.end()) {
    found = opened.emplace(file, weights::read_safetensors(vitascope::tests::golden(file))).first;
  }
  const weights::StoredTensor& stored = found->second.tensors.at(name);
  at::Tensor tensor = at::empty(stored.shape, at::kFloat);
  std::memcpy(tensor.mutable_data_ptr(), stored.bytes.data(), stored.bytes.size());
  return tensor;
}

inline at::Tensor golden_stem(const std::string& name) {
  return golden_tensor("stem.safetensors", name);
}

}  // namespace vitascope::model::tests
