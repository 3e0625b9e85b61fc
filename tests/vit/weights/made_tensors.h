#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "tests/golden.h"
#include "tests/input_error.h"
#include "vit/json.h"
#include "vit/weights/stored_tensors.h"

/// \file
/// Stored tensors without a file.
namespace vitascope::weights {

using tests::input_error;
using Shape = std::vector<std::int64_t>;

/// A float32 tensor of zeros.
inline StoredTensor made_tensor(const Shape& shape) {
  const auto bytes =
      std::make_shared<std::vector<std::byte>>(std::size_t(element_count(shape)) * sizeof(float));
  StoredTensor tensor;
  tensor.shape = shape;
  tensor.bytes = *bytes;
  tensor.owner = bytes;
  return tensor;
}

inline StoredTensors made_tensors(const std::map<std::string, Shape>& shapes) {
  StoredTensors tensors;
  for (const auto& [name, shape] : shapes) tensors.tensors[name] = made_tensor(shape);
  return tensors;
}

/// config.json of a golden model.
inline Json golden_config(const std::string& model) {
  return read_json(tests::golden("models/" + model + "/config.json"));
}

}  // namespace vitascope::weights
