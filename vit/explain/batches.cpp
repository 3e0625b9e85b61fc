#include "vit/explain/batches.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <stdexcept>

namespace vitascope::explain {

void score_in_batches(
    const Scores& scores, std::int64_t count,
    const std::function<at::Tensor(std::int64_t index)>& picture, const Batching& batching,
    const std::function<void(std::int64_t first, const at::Tensor& answers)>& take) {
  if (batching.size < 1) {
    throw std::invalid_argument("a batch of " + std::to_string(batching.size) +
                                " pictures: expected at least 1");
  }
  for (std::int64_t first = 0; first < count; first += batching.size) {
    const std::int64_t end = std::min(first + batching.size, count);
    std::vector<at::Tensor> pictures;
    pictures.reserve(static_cast<std::size_t>(end - first));
    for (std::int64_t index = first; index < end; ++index) pictures.push_back(picture(index));
    take(first, scores(at::cat(pictures)).to(at::kCPU, at::kDouble));
    if (batching.progress) batching.progress(end, count);
  }
}

}  // namespace vitascope::explain
