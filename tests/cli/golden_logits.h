#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <string>
#include <vector>

#include "tests/golden.h"
#include "vit/weights/safetensors.h"

/// \file
/// What Python's libraries gave for the two golden photos.
namespace vitascope::tests {

/// The float32 values of a tensor, and its shape.
struct Values {
  std::vector<std::int64_t> shape;
  std::vector<float> numbers;

  /// Row `index` along the first dimension.
  std::vector<float> row(std::size_t index) const {
    const std::size_t width = numbers.size() / static_cast<std::size_t>(shape.at(0));
    const auto begin = numbers.begin() + static_cast<std::ptrdiff_t>(index * width);
    return {begin, begin + static_cast<std::ptrdiff_t>(width)};
  }
};

inline Values values_of(const weights::StoredTensors& stored, const std::string& name) {
  const weights::StoredTensor& tensor = stored.tensors.at(name);
  EXPECT_EQ(tensor.dtype, weights::DType::f32) << name;
  Values values{tensor.shape, std::vector<float>(tensor.bytes.size() / sizeof(float))};
  std::memcpy(values.numbers.data(), tensor.bytes.data(), tensor.bytes.size());
  return values;
}

inline std::vector<double> softmax(const std::vector<float>& logits) {
  const double largest = *std::max_element(logits.begin(), logits.end());
  std::vector<double> result;
  double sum = 0;
  for (const float logit : logits) sum += result.emplace_back(std::exp(logit - largest));
  for (double& value : result) value /= sum;
  return result;
}

/// Largest absolute difference; infinite where the lengths differ.
inline double difference(const std::vector<float>& a, const std::vector<float>& b) {
  if (a.size() != b.size()) return INFINITY;
  double largest = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    largest = std::max(largest, std::abs(double(a[i]) - double(b[i])));
  }
  return largest;
}

/// The two photos of every expected file.
inline std::vector<std::string> golden_photos() {
  return {golden("images/rgb_plain.jpg"), golden("images/rgb.png")};
}

}  // namespace vitascope::tests
