#pragma once

#include <ATen/core/Tensor.h>

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "kernels/attention_problem.h"

/// \file
/// Exact multi-head attention (Vaswani et al. 2017, arXiv:1706.03762), and what explanations ask of
/// it. The only door to attention in this project. Shapes: batch B, heads H, queries Nq, keys Nk,
/// head width D.
namespace vitascope::kernels {

enum class Backend {
  automatic,  ///< fused where it is supported, else sdpa, else math
  fused,      ///< this project's kernels: no matrix of scores, any options
  sdpa,       ///< LibTorch's scaled_dot_product_attention
  math        ///< explicit products, softmax in float32; differentiable any number of times
};

/// "auto", "fused", "sdpa", "math".
const char* backend_name(Backend backend);
/// All of them, in that order.
std::vector<std::string> backend_names();
/// \throws std::invalid_argument listing the names
Backend parse_backend(std::string_view name);

/// What may be said beside q, k and v. Hidden keys get probability 0, whatever they hold, and a
/// query that sees no key gets 0, with an lse of -infinity.
struct AttentionOptions {
  std::optional<double> scale{};  ///< default 1 / sqrt(D)
  Backend backend = Backend::automatic;
  bool causal = false;                   ///< query i sees keys 0 .. i, also where Nq != Nk
  std::optional<std::int64_t> window{};  ///< keys at most so many places away
  std::optional<GridWindow> grid{};      ///< neighbours on a grid of patches
  at::Tensor key_lengths{};              ///< int64 [B]: keys from there on are hidden
  at::Tensor mask{};                     ///< bool, broadcast to [B, H, Nq, Nk]; true: visible
  at::Tensor bias{};                     ///< float, broadcast to [B, H, Nq, Nk]; added to scores
  double dropout = 0;                    ///< probability with which a probability becomes 0
  std::int64_t seed = 0;                 ///< of dropout: equal seeds drop equal places
};

/// What attention gives.
struct Attended {
  at::Tensor out;  ///< [B, Nq, H * D], ready for the output projection
  at::Tensor lse;  ///< float32 [B, H, Nq], logarithm of the sum of exponentials; not from sdpa
};

/// softmax(scale q k^T + bias) v.
/// \param q [B, H, Nq, D], \param k [B, H, Nk, D], \param v [B, H, Nk, D]: float32, bfloat16 or
///        float16, any strides whose last dimension is contiguous, so that the packed projection
///        [B, N, 3, H, D] is read in place; math takes float64 too
/// \throws c10::Error naming the shapes when they do not fit, or why the backend that was asked for
///         can't do it
Attended attention(const at::Tensor& q, const at::Tensor& k, const at::Tensor& v,
                   const AttentionOptions& options = {});

/// Which backend would run for q [B, H, Nq, D], and in words why none that comes before it.
struct BackendChoice {
  Backend backend;
  std::string reason;
};
BackendChoice choose_backend(const at::Tensor& q, const AttentionOptions& options);

/// Which probabilities are wanted.
struct MapOptions {
  at::Tensor rows{};       ///< int64 [R]: queries; all of them where undefined
  bool head_mean = false;  ///< the mean over heads alone
};

/// Rows of softmax(scale q k^T + bias), before dropout. Nothing larger than the answer is kept in
/// memory.
/// \param lse as attention gave it with the same options; where undefined it is computed first
/// \return float32 [B, H, R, Nk], or [B, 1, R, Nk] for the mean over heads
at::Tensor attention_map(const at::Tensor& q, const at::Tensor& k, const at::Tensor& lse,
                         const AttentionOptions& options = {}, const MapOptions& wanted = {});

/// d loss / d probability = dout v^T, 0 for hidden keys.
/// \param dout d loss / d out, [B, Nq, H * D]
/// \return float32 [B, H, R, Nk]
at::Tensor attention_map_gradient(const at::Tensor& q, const at::Tensor& k, const at::Tensor& v,
                                  const at::Tensor& dout, const AttentionOptions& options = {},
                                  const at::Tensor& rows = {});

/// weights v, for experiments that replace the probabilities. Differentiable in both.
/// \param weights [B, H, Nq, Nk]
/// \return [B, Nq, H * D] in the precision of v
at::Tensor attention_with_weights(const at::Tensor& weights, const at::Tensor& v);

}  // namespace vitascope::kernels
