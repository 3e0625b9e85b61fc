#include "kernels/linear.h"

#include <ATen/TensorOperators.h>
#include <ATen/core/dispatch/Dispatcher.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/gelu.h>
#include <ATen/ops/linear.h>
#include <ATen/ops/relu.h>
#include <ATen/ops/sigmoid.h>
#include <ATen/ops/silu.h>
#include <ATen/ops/zeros.h>
#include <c10/util/Exception.h>
#include <torch/csrc/autograd/custom_function.h>

#include <optional>
#include <string_view>

namespace vitascope::kernels {
namespace {

using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

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

/// oneDNN's words for an activation: an attribute of its product and, for some, which formula.
struct FusedActivation {
  std::string_view attribute = "none";
  std::optional<std::string_view> algorithm{};
};

std::optional<FusedActivation> fused(Activation activation) {
  switch (activation) {
    case Activation::none:
      return FusedActivation{"none", {}};
    case Activation::gelu:
      return FusedActivation{"gelu", "none"};
    case Activation::gelu_tanh:
      return FusedActivation{"gelu", "tanh"};
    case Activation::relu:
      return FusedActivation{"relu", {}};
    case Activation::silu:
      return FusedActivation{"swish", {}};
    case Activation::quick_gelu:
      break;
  }
  return std::nullopt;
}

using PackOperator = at::Tensor(const at::Tensor&, std::optional<c10::SymInt>);
using PackedProduct = at::Tensor(const at::Tensor&, const at::Tensor&,
                                 const std::optional<at::Tensor>&, std::string_view,
                                 c10::List<std::optional<at::Scalar>>,
                                 std::optional<std::string_view>);

template <typename Signature>
std::optional<c10::TypedOperatorHandle<Signature>> find_operator(const char* name) {
  const auto handle = c10::Dispatcher::singleton().findSchema({name, ""});
  if (!handle) return std::nullopt;
  return handle->typed<Signature>();
}

/// Nothing where LibTorch was built without oneDNN.
const auto& product_operator() {
  static const auto product = find_operator<PackedProduct>("mkldnn::_linear_pointwise");
  return product;
}

const auto& pack_operator() {
  static const auto pack = find_operator<PackOperator>("mkldnn::_reorder_linear_weight");
  return pack;
}

// oneDNN chooses the layout by the number of rows that will come; a few hundred and a few thousand
// give the same, which also serves single photos best.
constexpr int kRows = 1576;

at::Tensor onednn_product(const at::Tensor& x, const at::Tensor& weight,
                          const std::optional<at::Tensor>& bias, const FusedActivation& words) {
  return product_operator()->call(x, weight, bias, words.attribute,
                                  c10::List<std::optional<at::Scalar>>(), words.algorithm);
}

/// at::linear with the products that are the quickest of each kind on the CPU: forward oneDNN's
/// with weights packed on the spot, to the input in float32 oneDNN's too, the rest at::mm's.
class LinearFunction : public torch::autograd::Function<LinearFunction> {
 public:
  static at::Tensor forward(AutogradContext* context, const at::Tensor& x, const at::Tensor& weight,
                            const std::optional<at::Tensor>& bias) {
    context->save_for_backward({x, weight});
    context->saved_data["bias"] = bias.has_value();
    const at::AutoDispatchBelowADInplaceOrView guard;
    return onednn_product(x, pack(weight), bias, {});
  }

  static variable_list backward(AutogradContext* context, const variable_list& gradients) {
    const variable_list saved = context->get_saved_variables();
    const at::Tensor &x = saved[0], &weight = saved[1];
    const at::Tensor dy = gradients[0].flatten(0, -2).contiguous();
    variable_list result(3);
    if (context->needs_input_grad(0)) {
      const at::Tensor dx = dy.scalar_type() == at::kFloat
                                ? onednn_product(dy, weight.t(), std::nullopt, {})
                                : dy.mm(weight);
      result[0] = dx.view_as(x);
    }
    if (context->needs_input_grad(1)) result[1] = dy.t().mm(x.flatten(0, -2));
    if (context->saved_data["bias"].toBool() && context->needs_input_grad(2)) {
      result[2] = dy.sum(0);
    }
    return result;
  }
};

at::Tensor packed_product(const at::Tensor& x, const Weight& weight, Activation activation) {
  TORCH_CHECK(!(at::GradMode::is_enabled() && x.requires_grad()),
              "linear: a packed weight gives no gradients; keep it plain");
  const auto within = fused(activation);
  const FusedActivation words = within.value_or(FusedActivation{});
  const at::Tensor y = onednn_product(x, weight.weight, weight.bias, words);
  return within ? y : activate(y, activation);
}

/// Where weights learn, or what is added to them, also while no gradient is asked for: a block that
/// is computed twice must give the same numbers both times. An explanation's gradients, whose
/// weights don't learn, come from the very numbers that the answer came from.
bool trains(const at::Tensor& x, const Weight& weight) {
  return (weight.weight.requires_grad() || weight.down.defined()) && x.is_cpu() &&
         x.scalar_type() == weight.weight.scalar_type() && x.scalar_type() != at::kHalf &&
         has_product(x.scalar_type());
}

at::Tensor plain_product(const at::Tensor& x, const Weight& weight) {
  if (!trains(x, weight)) return at::linear(x, weight.weight, weight.bias);
  return LinearFunction::apply(x, weight.weight,
                               weight.bias.defined() ? std::optional(weight.bias) : std::nullopt);
}

at::Tensor product(const at::Tensor& x, const Weight& weight, Activation activation) {
  return weight.weight.is_mkldnn() ? packed_product(x, weight, activation)
                                   : activate(plain_product(x, weight), activation);
}

/// The two thin products cost less than the sum of the weights would, and in training the gradient
/// of a frozen weight is never computed.
at::Tensor low_rank_product(const at::Tensor& x, const Weight& weight, Activation activation) {
  const at::Tensor added = at::linear(at::linear(x, weight.down), weight.up);
  return activate(product(x, weight, Activation::none).add_(added, weight.low_rank_scale),
                  activation);
}

}  // namespace

bool has_product(at::ScalarType type) {
  const auto takes = [](at::ScalarType half) {
    if (!pack_operator() || !product_operator()) return false;
    try {
      pack_operator()->call(at::zeros({16, 16}, half), c10::SymInt(kRows));
      return true;
    } catch (const c10::Error&) {
      return false;
    }
  };
  static const bool takes_float = takes(at::kFloat), takes_bfloat16 = takes(at::kBFloat16),
                    takes_half = takes(at::kHalf);
  switch (type) {
    case at::kFloat:
      return takes_float;
    case at::kBFloat16:
      return takes_bfloat16;
    case at::kHalf:
      return takes_half;
    default:
      return false;
  }
}

at::Tensor pack(const at::Tensor& weight) {
  return has_product(weight.scalar_type()) ? pack_operator()->call(weight, c10::SymInt(kRows))
                                           : weight;
}

at::Tensor linear(const at::Tensor& x, const Weight& weight, const Epilogue& epilogue) {
  at::Tensor y = weight.down.defined() ? low_rank_product(x, weight, epilogue.activation)
                                       : product(x, weight, epilogue.activation);
  // The product is a fresh tensor that nobody else holds: what follows may work in place.
  if (epilogue.scale.defined()) y.mul_(epilogue.scale);
  if (epilogue.residual.defined()) y.add_(epilogue.residual);
  return y;
}

}  // namespace vitascope::kernels
