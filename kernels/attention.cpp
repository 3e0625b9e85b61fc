#include "kernels/attention.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/matmul.h>
#include <ATen/ops/scaled_dot_product_attention.h>
#include <ATen/ops/softmax.h>
#include <c10/util/Exception.h>

#include <array>
#include <cmath>
#include <stdexcept>

namespace vitascope::kernels {
namespace {

struct BackendName {
  Backend backend;
  const char* name;
};
constexpr std::array kBackends{BackendName{Backend::automatic, "auto"},
                               BackendName{Backend::sdpa, "sdpa"},
                               BackendName{Backend::math, "math"}};

void check_shapes(const at::Tensor& q, const at::Tensor& k, const at::Tensor& v) {
  TORCH_CHECK(q.dim() == 4 && k.dim() == 4 && v.dim() == 4,
              "attention expects [B, H, N, D] for q, k and v, got ", q.sizes(), ", ", k.sizes(),
              ", ", v.sizes());
  TORCH_CHECK(k.sizes() == v.sizes() && q.size(0) == k.size(0) && q.size(1) == k.size(1) &&
                  q.size(3) == k.size(3),
              "attention: q, k and v do not fit: ", q.sizes(), ", ", k.sizes(), ", ", v.sizes());
}

double scale_or_default(const at::Tensor& q, std::optional<double> scale) {
  return scale.value_or(1.0 / std::sqrt(static_cast<double>(q.size(3))));
}

}  // namespace

const char* backend_name(Backend backend) {
  for (const auto& entry : kBackends) {
    if (entry.backend == backend) return entry.name;
  }
  throw std::invalid_argument("unknown attention backend");
}

Backend parse_backend(std::string_view name) {
  for (const auto& entry : kBackends) {
    if (entry.name == name) return entry.backend;
  }
  throw std::invalid_argument("unknown attention backend '" + std::string(name) +
                              "': expected auto, sdpa or math");
}

at::Tensor attention_map(const at::Tensor& q, const at::Tensor& k, std::optional<double> scale) {
  check_shapes(q, k, k);
  const at::Tensor scores =
      at::matmul(q.to(at::kFloat) * scale_or_default(q, scale), k.to(at::kFloat).transpose(-2, -1));
  return at::softmax(scores, -1);
}

at::Tensor attention(const at::Tensor& q, const at::Tensor& k, const at::Tensor& v,
                     const AttentionOptions& options) {
  check_shapes(q, k, v);
  // [B, H, N, D] in memory order [B, N, H, D] makes the last step a view; SDPA on the CPU keeps it.
  const at::Tensor out =
      options.backend == Backend::math
          ? at::matmul(attention_map(q, k, options.scale), v.to(at::kFloat)).to(v.scalar_type())
          : at::scaled_dot_product_attention(q, k, v, /*attn_mask=*/{}, /*dropout_p=*/0.0,
                                             /*is_causal=*/false, options.scale);
  return out.transpose(1, 2).reshape({q.size(0), q.size(2), q.size(1) * q.size(3)});
}

}  // namespace vitascope::kernels
