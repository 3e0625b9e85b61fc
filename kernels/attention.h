#pragma once

#include <ATen/core/Tensor.h>

#include <optional>
#include <string>
#include <string_view>

/// \file
/// Exact multi-head attention (Vaswani et al. 2017): softmax(scale * q k^T) v. The only door to
/// attention in this project.
namespace vitascope::kernels {

enum class Backend {
  automatic,  ///< what the policy table says for these tensors
  sdpa,       ///< LibTorch's scaled_dot_product_attention
  math        ///< explicit products, softmax in float32
};

/// "auto", "sdpa", "math".
const char* backend_name(Backend backend);
/// \throws std::invalid_argument listing the names
Backend parse_backend(std::string_view name);

/// What may be said beside q, k and v.
struct AttentionOptions {
  std::optional<double> scale;  ///< default 1 / sqrt(D)
  Backend backend = Backend::automatic;
};

/// \param q [B, H, Nq, D], \param k [B, H, Nk, D], \param v [B, H, Nk, D]: float32, bfloat16 or
///        float16, any strides whose last dimension is contiguous, so that the packed projection
///        [B, N, 3, H, D] is read in place
/// \return [B, Nq, H * D], ready for the output projection
/// \throws c10::Error naming the shapes when they do not fit
at::Tensor attention(const at::Tensor& q, const at::Tensor& k, const at::Tensor& v,
                     const AttentionOptions& options = {});

/// The probabilities softmax(scale * q k^T), [B, H, Nq, Nk] in float32.
at::Tensor attention_map(const at::Tensor& q, const at::Tensor& k,
                         std::optional<double> scale = std::nullopt);

}  // namespace vitascope::kernels
