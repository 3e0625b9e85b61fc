#include "kernels/thin_linear.h"

#include <ATen/TensorOperators.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/empty.h>

#include <vector>

#include "kernels/cpu/decoding.h"

namespace vitascope::kernels {
namespace {

bool is_plain(const at::Tensor& x) {
  return x.is_cpu() && !x.is_mkldnn() && x.scalar_type() == at::kFloat &&
         !(at::GradMode::is_enabled() && x.requires_grad());
}

bool is_thin(const at::Tensor& x, const Weight& weight) {
  const at::Tensor &w = weight.weight, &bias = weight.bias;
  return is_plain(x) && is_plain(w) && w.is_contiguous() && !weight.down.defined() &&
         x.size(-1) == w.size(1) && x.numel() > 0 && x.numel() <= cpu::kThinRows * w.size(1) &&
         (!bias.defined() || (is_plain(bias) && bias.is_contiguous()));
}

}  // namespace

at::Tensor thin_linear(const at::Tensor& x, const Weight& weight, const at::Tensor& residual) {
  if (!is_thin(x, weight)) return linear(x, weight, {.residual = residual});
  const at::Tensor rows = x.contiguous();
  std::vector<std::int64_t> shape = x.sizes().vec();
  shape.back() = weight.weight.size(0);
  at::Tensor y = at::empty(shape, x.options());
  cpu::thin_product({.rows = x.numel() / x.size(-1),
                     .inputs = x.size(-1),
                     .outputs = shape.back(),
                     .x = rows.const_data_ptr<float>(),
                     .weight = weight.weight.const_data_ptr<float>(),
                     .bias = weight.bias.defined() ? weight.bias.const_data_ptr<float>() : nullptr,
                     .y = y.mutable_data_ptr<float>()},
                    cpu::chosen_isa());
  return residual.defined() ? y.add_(residual) : y;
}

}  // namespace vitascope::kernels
