#include "vit/model/block.h"

#include <chrono>

namespace vitascope::model {
namespace {

kernels::Activation kernel_activation(Activation activation) {
  switch (activation) {
    case Activation::gelu:
      return kernels::Activation::gelu;
    case Activation::gelu_tanh:
      return kernels::Activation::gelu_tanh;
    case Activation::quick_gelu:
      return kernels::Activation::quick_gelu;
    case Activation::relu:
      return kernels::Activation::relu;
    case Activation::silu:
      return kernels::Activation::silu;
  }
  return kernels::Activation::none;
}

}  // namespace

at::Tensor Mlp::forward(const at::Tensor& x, const Config& config,
                        const kernels::Epilogue& epilogue) const {
  if (config.swiglu) {
    const auto halves = kernels::linear(x, fc1).chunk(2, -1);
    return kernels::linear(at::silu(halves[0]) * halves[1], fc2, epilogue);
  }
  const kernels::Epilogue activation{.activation = kernel_activation(config.activation)};
  return kernels::linear(kernels::linear(x, fc1, activation), fc2, epilogue);
}

at::Tensor Block::forward(const at::Tensor& x, const Config& config, kernels::Backend backend,
                          Trace* trace, PartTimes* times) const {
  using Clock = std::chrono::steady_clock;
  const auto start = Clock::now();
  const at::Tensor middle =
      attn.forward(norm1(x), config, backend, trace, {.scale = ls1, .residual = x});
  const auto attended = Clock::now();
  at::Tensor out = mlp.forward(norm2(middle), config, {.scale = ls2, .residual = middle});
  if (times != nullptr) {
    times->attention += std::chrono::duration<double>(attended - start).count();
    times->mlp += std::chrono::duration<double>(Clock::now() - attended).count();
  }
  return out;
}

}  // namespace vitascope::model
