#include "kernels/attention.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/matmul.h>
#include <c10/util/Exception.h>

#include <array>
#include <stdexcept>

#include "kernels/attention_arguments.h"
#include "kernels/attention_math.h"

namespace vitascope::kernels {
namespace {

struct BackendName {
  Backend backend;
  const char* name;
};
constexpr std::array kBackends{
    BackendName{Backend::automatic, "auto"}, BackendName{Backend::fused, "fused"},
    BackendName{Backend::sdpa, "sdpa"}, BackendName{Backend::math, "math"}};

std::optional<at::Tensor> given(const at::Tensor& tensor) {
  return tensor.defined() ? std::optional(tensor) : std::nullopt;
}

OperatorOptions operator_options(const at::Tensor& q, const AttentionOptions& options) {
  OperatorOptions result;
  result.scale = scale_of(q, options);
  result.causal = options.causal;
  result.window = options.window.value_or(-1);
  if (options.grid) {
    const GridWindow& grid = *options.grid;
    result.grid = {grid.prefix, grid.rows, grid.columns, grid.row_radius, grid.column_radius};
  }
  result.key_lengths = given(options.key_lengths);
  result.mask = given(options.mask);
  result.bias = given(options.bias);
  result.dropout = options.dropout;
  result.seed = options.seed;
  return result;
}

/// Why the fused kernels can't take these tensors, or nothing. A GPU's are asked themselves.
std::string fused_problem(const at::Tensor& q) {
  if (!element_of(q.scalar_type())) {
    return std::string("the kernels take float32, bfloat16 and float16, not ") +
           c10::toString(q.scalar_type());
  }
  if (q.is_cpu() || q.is_meta()) return "";
  static const auto refusal =
      c10::Dispatcher::singleton().findSchemaOrThrow("vitascope::attention_refusal", "");
  if (!q.is_cuda() || !refusal.hasKernelForDispatchKey(c10::DispatchKey::CUDA)) {
    return "there are no kernels for " + q.device().str();
  }
  torch::jit::Stack stack{q};
  refusal.callBoxed(&stack);
  return stack[0].toStringRef();
}

/// Why LibTorch's operator can't do what is asked, or nothing.
std::string sdpa_problem(const AttentionOptions& options) {
  if (options.dropout > 0) return "its dropout does not follow the seed";
  return "";
}

}  // namespace

const char* backend_name(Backend backend) {
  for (const auto& entry : kBackends) {
    if (entry.backend == backend) return entry.name;
  }
  throw std::invalid_argument("unknown attention backend");
}

std::vector<std::string> backend_names() {
  std::vector<std::string> names;
  names.reserve(kBackends.size());
  for (const auto& entry : kBackends) names.emplace_back(entry.name);
  return names;
}

Backend parse_backend(std::string_view name) {
  for (const auto& entry : kBackends) {
    if (entry.name == name) return entry.backend;
  }
  throw std::invalid_argument("unknown attention backend '" + std::string(name) +
                              "': expected auto, fused, sdpa or math");
}

BackendChoice choose_backend(const at::Tensor& q, const AttentionOptions& options) {
  const std::string fused = fused_problem(q);
  const std::string sdpa = sdpa_problem(options);
  switch (options.backend) {
    case Backend::automatic:
      if (fused.empty()) return {Backend::fused, ""};
      if (sdpa.empty()) return {Backend::sdpa, "not fused: " + fused};
      return {Backend::math, "not fused: " + fused + "; not sdpa: " + sdpa};
    case Backend::fused:
      TORCH_CHECK(fused.empty(), "attention: the backend 'fused' was asked for, but ", fused);
      break;
    case Backend::sdpa:
      TORCH_CHECK(sdpa.empty(), "attention: the backend 'sdpa' was asked for, but ", sdpa);
      break;
    case Backend::math:
      break;
  }
  return {options.backend, ""};
}

Attended attention(const at::Tensor& q, const at::Tensor& k, const at::Tensor& v,
                   const AttentionOptions& options) {
  check_operands(q, k, v);
  TORCH_CHECK(options.dropout >= 0 && options.dropout < 1,
              "attention: dropout is at least 0 and below 1, got ", options.dropout);
  switch (choose_backend(q, options).backend) {
    case Backend::sdpa:
      return attention_by_sdpa(q, k, v, options);
    case Backend::math:
      return attention_by_formula(q, k, v, options);
    default:
      break;
  }
  const auto results =
      call_operator("vitascope::attention", {q, k, v}, operator_options(q, options));
  return {results[0], results[1]};
}

at::Tensor attention_map(const at::Tensor& q, const at::Tensor& k, const at::Tensor& lse,
                         const AttentionOptions& options, const MapOptions& wanted) {
  const OperatorOptions known = operator_options(q, options);
  const at::Tensor sums =
      lse.defined() ? lse : call_operator("vitascope::attention", {q, k, k}, known)[1];
  return call_operator("vitascope::attention_map", {q, k, sums}, known,
                       {c10::IValue(given(wanted.rows)), wanted.head_mean})[0];
}

at::Tensor attention_map_gradient(const at::Tensor& q, const at::Tensor& k, const at::Tensor& v,
                                  const at::Tensor& dout, const AttentionOptions& options,
                                  const at::Tensor& rows) {
  return call_operator("vitascope::attention_map_gradient", {q, k, v, dout},
                       operator_options(q, options), {c10::IValue(given(rows))})[0];
}

at::Tensor attention_with_weights(const at::Tensor& weights, const at::Tensor& v) {
  TORCH_CHECK(weights.dim() == 4 && v.dim() == 4 && weights.size(0) == v.size(0) &&
                  weights.size(1) == v.size(1) && weights.size(3) == v.size(2),
              "attention: weights of shape ", weights.sizes(), " do not fit values of shape ",
              v.sizes());
  return at::matmul(weights.to(v.scalar_type()), v).transpose(1, 2).flatten(2);
}

}  // namespace vitascope::kernels
