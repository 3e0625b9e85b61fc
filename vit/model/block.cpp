#include "vit/model/block.h"

#include <ATen/core/grad_mode.h>

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

at::Tensor hidden_layer(const at::Tensor& x, const kernels::Weight& fc1, const Config& config) {
  if (!config.swiglu) {
    return kernels::linear(x, fc1, {.activation = kernel_activation(config.activation)});
  }
  const auto halves = kernels::linear(x, fc1).chunk(2, -1);
  return at::silu(halves[0]) * halves[1];
}

/// What a branch is multiplied by: gamma [C], drop path's [B, 1, 1], both [B, 1, C], or undefined.
/// \param branch 0: attention, 1: MLP
at::Tensor branch_scale(const at::Tensor& gamma, const at::Tensor& scales, int layer, int branch,
                        const at::Tensor& like) {
  if (!scales.defined()) return gamma;
  const at::Tensor of_samples =
      scales.select(0, layer).select(0, branch).view({-1, 1, 1}).to(like.options());
  return gamma.defined() ? of_samples * gamma : of_samples;
}

/// Rows that go through both layers together. The hidden layer is the largest tensor of a forward
/// pass; a thousand rows of it keep the cores as busy as all of them do.
constexpr std::int64_t kRows = 1024;

}  // namespace

at::Tensor Mlp::forward(const at::Tensor& x, const Config& config,
                        const kernels::Epilogue& epilogue) const {
  const at::Tensor rows = x.flatten(0, -2);
  const std::int64_t chunks = (rows.size(0) + kRows - 1) / kRows;
  // Autograd keeps every chunk alive and a GPU wants all rows at once: neither gains. A scale for
  // each sample does not fit rows.
  const bool by_sample = epilogue.scale.defined() && epilogue.scale.dim() > 1;
  if (chunks <= 1 || at::GradMode::is_enabled() || !x.is_cpu() || by_sample) {
    return kernels::linear(hidden_layer(x, fc1, config), fc2, epilogue);
  }
  at::Tensor out = at::empty_like(x);
  const auto outs = out.flatten(0, -2).chunk(chunks);
  const auto inputs = rows.chunk(chunks);
  const auto residuals = epilogue.residual.flatten(0, -2).chunk(chunks);
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    outs[i].copy_(kernels::linear(hidden_layer(inputs[i], fc1, config), fc2,
                                  {.scale = epilogue.scale, .residual = residuals[i]}));
  }
  return out;
}

at::Tensor Block::forward(const at::Tensor& x, const Config& config, int layer,
                          const ForwardOptions& options) const {
  using Clock = std::chrono::steady_clock;
  const auto start = Clock::now();
  at::Tensor normed = norm1(x);
  if (Trace* trace = options.trace;
      trace != nullptr && trace->want_last_norm1 && layer + 1 == config.depth) {
    trace->last_norm1 = normed = graph_node(normed);
  }
  const at::Tensor& scales = options.training.branch_scales;
  const at::Tensor middle =
      attn.forward(normed, config, layer, options,
                   {.scale = branch_scale(ls1, scales, layer, 0, x), .residual = x});
  const auto attended = Clock::now();
  at::Tensor out = mlp.forward(
      norm2(middle), config, {.scale = branch_scale(ls2, scales, layer, 1, x), .residual = middle});
  if (PartTimes* times = options.times; times != nullptr) {
    times->attention += std::chrono::duration<double>(attended - start).count();
    times->mlp += std::chrono::duration<double>(Clock::now() - attended).count();
  }
  return out;
}

}  // namespace vitascope::model
