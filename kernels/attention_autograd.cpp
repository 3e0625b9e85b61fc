// Gradients of vitascope::attention: one backward operator, which itself has none.
#include <ATen/TensorOperators.h>
#include <ATen/ops/zeros_like.h>
#include <torch/csrc/autograd/custom_function.h>
#include <torch/library.h>

#include "kernels/attention_arguments.h"

namespace vitascope::kernels {
namespace {

using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

/// Options, kept in a graph from forward to backward.
struct KeptOptions : torch::CustomClassHolder {
  explicit KeptOptions(OperatorOptions given) : options(std::move(given)) {}
  OperatorOptions options;
};

/// The bias's own gradient, which is that of the scores, summed where it was broadcast. The matrix
/// of one head of one picture is in memory at a time; a bias is as large itself.
at::Tensor bias_gradient(const at::Tensor& dout, const variable_list& saved,
                         const OperatorOptions& options) {
  const at::Tensor &q = saved[0], &k = saved[1], &v = saved[2], &out = saved[3], &lse = saved[4];
  const at::Tensor gradient =
      at::zeros_like(*options.bias, options.bias->options().dtype(at::kFloat));
  const at::Tensor delta =
      (heads_of(dout, q.size(1)).to(at::kFloat) * heads_of(out, q.size(1)).to(at::kFloat)).sum(-1);
  const std::int64_t width = q.size(3);
  for (std::int64_t b = 0; b < q.size(0); ++b) {
    for (std::int64_t h = 0; h < q.size(1); ++h) {
      const auto one = [b, h](const at::Tensor& t) {
        return t.narrow(0, t.size(0) == 1 ? 0 : b, 1).narrow(1, t.size(1) == 1 ? 0 : h, 1);
      };
      OperatorOptions here = options;
      here.bias = one(*options.bias);
      if (options.mask) here.mask = one(*options.mask);
      if (options.key_lengths) here.key_lengths = options.key_lengths->narrow(0, b, 1);
      const c10::IValue all_rows;
      const at::Tensor p = call_operator("vitascope::attention_map", {one(q), one(k), one(lse)},
                                         here, {all_rows, false})[0];
      const at::Tensor dp =
          call_operator("vitascope::attention_map_gradient",
                        {one(q), one(k), one(v), dout.narrow(0, b, 1).narrow(2, h * width, width)},
                        here, {all_rows})[0];
      const at::Tensor to = one(gradient);
      to.add_((p * (dp - one(delta).unsqueeze(-1))).sum_to_size(to.sizes()));
    }
  }
  return gradient.to(options.bias->scalar_type());
}

class BackwardFunction : public torch::autograd::Function<BackwardFunction> {
 public:
  static variable_list forward(AutogradContext*, const at::Tensor& dout, const variable_list& saved,
                               const OperatorOptions& options) {
    const at::AutoDispatchBelowADInplaceOrView guard;
    return call_operator("vitascope::attention_backward",
                         {dout, saved[0], saved[1], saved[2], saved[3], saved[4]}, options);
  }
  static variable_list backward(AutogradContext*, const variable_list&) {
    TORCH_CHECK(false,
                "attention: the fused backend has no gradients of gradients; choose the backend "
                "'math' for them");
  }
};

class ForwardFunction : public torch::autograd::Function<ForwardFunction> {
 public:
  static variable_list forward(AutogradContext* context, const at::Tensor& q, const at::Tensor& k,
                               const at::Tensor& v, const std::optional<at::Tensor>& bias,
                               const OperatorOptions& options) {
    static_cast<void>(bias);  // an argument of its own so that autograd sees it
    const at::AutoDispatchBelowADInplaceOrView guard;
    variable_list results = call_operator("vitascope::attention", {q, k, v}, options);
    context->save_for_backward({q, k, v, results[0], results[1]});
    context->saved_data["options"] =
        c10::IValue::make_capsule(c10::make_intrusive<KeptOptions>(options));
    context->mark_non_differentiable({results[1]});
    return results;
  }

  static variable_list backward(AutogradContext* context, const variable_list& gradients) {
    const variable_list saved = context->get_saved_variables();
    const auto capsule = context->saved_data["options"].toCapsule();
    const OperatorOptions& options = static_cast<const KeptOptions&>(*capsule).options;
    variable_list result(5);
    if (!gradients[0].defined()) return result;
    const variable_list all = BackwardFunction::apply(gradients[0], saved, options);
    std::copy(all.begin(), all.end(), result.begin());
    if (options.bias && context->needs_input_grad(3)) {
      const at::NoGradGuard guard;
      TORCH_CHECK(options.dropout == 0, "attention: a bias gets no gradient under dropout");
      result[3] = bias_gradient(gradients[0], saved, options);
    }
    return result;
  }
};

void attention_autograd(const c10::OperatorHandle& handle, torch::jit::Stack* stack) {
  const Call call(handle, *stack);
  const OperatorOptions options = call.options(3);
  call.give(ForwardFunction::apply(call.tensor(0), call.tensor(1), call.tensor(2), options.bias,
                                   options));
}

}  // namespace

TORCH_LIBRARY_IMPL(vitascope, Autograd, library) {
  library.impl("attention", torch::CppFunction::makeFromBoxedFunction<&attention_autograd>());
}

}  // namespace vitascope::kernels
