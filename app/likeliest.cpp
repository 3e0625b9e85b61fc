#include "app/likeliest.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <numeric>

namespace vitascope::app {

std::vector<Prediction> likeliest(const at::Tensor& probabilities,
                                  const std::vector<std::string>& labels, std::size_t top,
                                  double threshold) {
  const float* values = probabilities.const_data_ptr<float>();
  std::vector<int> order(static_cast<std::size_t>(probabilities.numel()));
  std::iota(order.begin(), order.end(), 0);
  const auto end = order.begin() + static_cast<std::ptrdiff_t>(std::min(top, order.size()));
  std::partial_sort(order.begin(), end, order.end(), [values](int a, int b) {
    return values[a] != values[b] ? values[a] > values[b] : a < b;
  });
  std::vector<Prediction> predictions;
  for (auto index = order.begin(); index != end; ++index) {
    const double probability = values[*index];
    if (probability < threshold) break;
    predictions.push_back({*index, labels[static_cast<std::size_t>(*index)], probability});
  }
  return predictions;
}

}  // namespace vitascope::app
