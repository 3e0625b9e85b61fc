#include "vit/model/heads.h"

namespace vitascope::model {

at::Tensor pool(const at::Tensor& tokens, const Config& config) {
  const auto mean_of_patches = [&] { return tokens.slice(1, config.prefix_tokens()).mean(1); };
  switch (config.pooling) {
    case Pooling::class_token:
      return tokens.select(1, 0);
    case Pooling::mean_patches:
      return mean_of_patches();
    case Pooling::class_and_mean:
      return at::cat({tokens.select(1, 0), mean_of_patches()}, 1);
    case Pooling::first_two:
      return tokens.slice(1, 0, 2);
  }
  TORCH_CHECK(false, "unknown pooling");
}

at::Tensor Head::logits(const at::Tensor& features) const {
  if (neighbours.features.defined()) return neighbours.logits(features.flatten(1));
  if (!head.weight.defined()) return {};
  if (!head_dist.weight.defined()) return kernels::linear(features, head).to(at::kFloat);
  const at::Tensor both = kernels::linear(features.select(1, 0), head) +
                          kernels::linear(features.select(1, 1), head_dist);
  return both.to(at::kFloat) / 2;
}

}  // namespace vitascope::model
