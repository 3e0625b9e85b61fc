#pragma once

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <string>
#include <vector>

#include "tests/golden.h"
#include "vit/json.h"
#include "vit/weights/safetensors.h"

/// \file
/// The files of tests/golden that training is held to.
namespace vitascope::train::tests {

/// A JSON file of classification_metrics/.
inline Json golden_json(const std::string& name) {
  return read_json(vitascope::tests::golden("classification_metrics/" + name + ".json"));
}

/// What PyTorch and timm give beside that.
inline const Json& golden_training() {
  static const Json values = read_json(vitascope::tests::golden("training.json"));
  return values;
}

/// Tensors of a safetensors file of classification_metrics/, in which all are float32.
class GoldenTensors {
 public:
  explicit GoldenTensors(const std::string& name)
      : stored_(weights::read_safetensors(
            vitascope::tests::golden("classification_metrics/" + name + ".safetensors"))) {}

  at::Tensor operator[](const std::string& name) const {
    const weights::StoredTensor& stored = stored_.tensors.at(name);
    at::Tensor tensor = at::empty(stored.shape, at::kFloat);
    std::memcpy(tensor.mutable_data_ptr(), stored.bytes.data(), stored.bytes.size());
    return tensor;
  }

 private:
  weights::StoredTensors stored_;
};

/// Numbers of a JSON list, flat.
inline at::Tensor tensor_of(const Json& list) {
  return at::tensor(list.get<std::vector<double>>(), at::kDouble);
}

/// max |got - expected| / max |expected|
inline double relative_error(const at::Tensor& got, const at::Tensor& expected) {
  const at::Tensor exact = expected.to(at::kDouble);
  const double scale = exact.abs().max().item<double>();
  const double error = (got.detach().to(at::kDouble) - exact).abs().max().item<double>();
  return scale == 0 ? error : error / scale;
}

/// of value, relative
inline void expect_relative(double got, double exact, double relative) {
  EXPECT_NEAR(got, exact, relative * std::abs(exact));
}

}  // namespace vitascope::train::tests
