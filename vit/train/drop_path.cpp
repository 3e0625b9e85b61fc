#include "vit/train/drop_path.h"

#include <ATen/ATen.h>
#include <fmt/format.h>

#include "vit/error.h"

namespace vitascope::train {

std::vector<double> drop_path_rates(int depth, double rate) {
  if (!(rate >= 0 && rate < 1)) {
    throw UsageError(fmt::format("a drop path rate of {}: expected 0 or more and below 1", rate));
  }
  std::vector<double> rates(static_cast<std::size_t>(depth));
  for (int i = 1; i < depth; ++i) rates[static_cast<std::size_t>(i)] = rate * i / (depth - 1);
  return rates;
}

at::Tensor drop_path_scales(std::int64_t batch, double rate, RandomNumbers& random) {
  at::Tensor scales = at::zeros({batch}, at::kFloat);
  float* scale = scales.mutable_data_ptr<float>();
  for (std::int64_t i = 0; i < batch; ++i) {
    if (random.uniform() >= rate) scale[i] = static_cast<float>(1 / (1 - rate));
  }
  return scales;
}

}  // namespace vitascope::train
