#include "kernels/linear.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/gelu.h>
#include <ATen/ops/linear.h>
#include <ATen/ops/relu.h>
#include <ATen/ops/sigmoid.h>
#include <ATen/ops/silu.h>
#include <c10/util/Exception.h>

namespace vitascope::kernels {
namespace {

at::Tensor activate(const at::Tensor& x, Activation activation) {
  switch (activation) {
    case Activation::none:
      return x;
    case Activation::gelu:
      return at::gelu(x);
    case Activation::gelu_tanh:
      return at::gelu(x, "tanh");
    case Activation::quick_gelu:
      return x * at::sigmoid(x * 1.702);
    case Activation::relu:
      return at::relu(x);
    case Activation::silu:
      return at::silu(x);
  }
  TORCH_CHECK(false, "unknown activation");
}

}  // namespace

at::Tensor linear(const at::Tensor& x, const Weight& weight, const Epilogue& epilogue) {
  at::Tensor y = activate(at::linear(x, weight.weight, weight.bias), epilogue.activation);
  // The product is a fresh tensor that nobody else holds: what follows may work in place.
  if (epilogue.scale.defined()) y.mul_(epilogue.scale);
  if (epilogue.residual.defined()) y.add_(epilogue.residual);
  return y;
}

}  // namespace vitascope::kernels
