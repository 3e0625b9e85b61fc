#pragma once

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <cstddef>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "vit/weights/safetensors.h"

/// \file
/// Reference files for the tests: read to tensors, changed, written again.
namespace vitascope::tests {

using Tensors = std::map<std::string, at::Tensor>;

/// A path in the tests' own folder that no other test uses.
inline std::string scratch(const std::string& name) {
  const auto* test = testing::UnitTest::GetInstance()->current_test_info();
  return testing::TempDir() + test->test_suite_name() + "-" + test->name() + "-" + name;
}

/// The float32 tensors of a file.
inline Tensors read_tensors(const std::string& path) {
  Tensors tensors;
  for (const auto& [name, stored] : weights::read_safetensors(path).tensors) {
    if (stored.dtype != weights::DType::f32) continue;
    at::Tensor tensor = at::empty(stored.shape, at::kFloat);
    std::memcpy(tensor.data_ptr(), stored.bytes.data(), stored.bytes.size());
    tensors[name] = tensor;
  }
  return tensors;
}

/// Writes a file in the test's own folder and returns its path.
inline std::string write_tensors(const std::string& name, const Tensors& tensors,
                                 const std::map<std::string, std::string>& metadata = {}) {
  std::vector<weights::TensorToWrite> list;
  std::vector<at::Tensor> kept;
  for (const auto& [key, tensor] : tensors) {
    kept.push_back(tensor.to(at::kFloat).contiguous());
    const auto* bytes = static_cast<const std::byte*>(kept.back().data_ptr());
    list.push_back({key, weights::DType::f32, tensor.sizes().vec(), {bytes, kept.back().nbytes()}});
  }
  const std::string path = scratch(name);
  weights::write_safetensors(path, list, metadata, true);
  return path;
}

}  // namespace vitascope::tests
