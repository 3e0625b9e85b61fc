#pragma once

#include <ATen/ATen.h>

#include <string>

#include "tests/golden.h"
#include "vit/caption/cnn_reader.h"
#include "vit/weights/safetensors.h"
#include "vit/weights/tensor_assembly.h"

/// \file
/// tests/golden/cnn: networks of torchvision and timm, and what they give.
namespace vitascope::caption::tests {

/// Path of a network's state dict.
inline std::string golden_path(const std::string& network) {
  return vitascope::tests::golden("cnn/" + network + ".safetensors");
}

/// The network as it comes, with plain weights.
inline Cnn golden_network(const std::string& network) {
  const std::string path = golden_path(network);
  return read_cnn(weights::read_safetensors(path), path).value();
}

/// `pixels`, `features`, `coefficients`, `gradient.*`.
inline at::Tensor golden_tensor(const std::string& network, const std::string& name) {
  const auto all = weights::read_safetensors(golden_path(network + "-expected"));
  return weights::view_of(all.tensors.at(name)).clone();
}

/// Largest difference, as a part of the largest value expected.
inline double relative_error(const at::Tensor& got, const at::Tensor& expected) {
  if (got.sizes() != expected.sizes()) return 1e9;
  return ((got - expected).abs().max() / expected.abs().max()).item<double>();
}

}  // namespace vitascope::caption::tests
