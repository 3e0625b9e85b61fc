#pragma once

#include <cstdint>

/// \file
/// What an attention kernel is told: plain structs of pointers, sizes and strides, the same for the
/// CPU and for CUDA. Sizes and strides count elements, in 64 bits.

#if defined(__CUDACC__)
#define VITASCOPE_HOST_DEVICE __host__ __device__ __forceinline__
#else
// Always inline: these functions are compiled for several instruction sets, and the linker, which
// keeps one copy of an ordinary inline function, might keep one that this processor lacks.
#define VITASCOPE_HOST_DEVICE __attribute__((always_inline)) inline
#endif

namespace vitascope::kernels {

/// Type of q, k, v, out and of their gradients. Scores, sums, lse and maps are float32 always.
enum class Element : std::uint8_t { f32, bf16, f16 };

/// Where a row of [B, H, N, D] begins; its D elements lie side by side.
struct Strides {
  std::int64_t batch = 0, head = 0, row = 0;

  VITASCOPE_HOST_DEVICE std::int64_t offset(std::int64_t b, std::int64_t h, std::int64_t i) const {
    return b * batch + h * head + i * row;
  }
};

/// Patches on a grid behind prefix tokens (class token, registers), row by row. A patch sees the
/// patches at most so many rows and columns away; prefix tokens see all and are seen by all. The
/// neighbourhood is cut off at the border (NATTEN, arXiv:2204.07143, shifts it instead).
struct GridWindow {
  std::int32_t prefix = 0, rows = 0, columns = 0;  ///< rows == 0: there is no grid
  std::int32_t row_radius = 0, column_radius = 0;

  VITASCOPE_HOST_DEVICE bool sees(std::int64_t query, std::int64_t key) const {
    if (query < prefix || key < prefix) return true;
    const std::int64_t down = (query - prefix) / columns - (key - prefix) / columns;
    const std::int64_t right = (query - prefix) % columns - (key - prefix) % columns;
    return down <= row_radius && -down <= row_radius && right <= column_radius &&
           -right <= column_radius;
  }
};

/// Which keys a query sees: those that every part allows.
struct Visibility {
  bool causal = false;       ///< keys 0 .. i for query i, also where Nq and Nk differ
  std::int64_t window = -1;  ///< keys at most so many places away; negative: no window
  GridWindow grid;
  const std::int64_t* key_lengths = nullptr;  ///< [B]: keys from here on are padding
  const bool* mask = nullptr;                 ///< [B, H, Nq, Nk], true: visible
  Strides mask_strides;                       ///< 0 where the mask is broadcast
  std::int64_t mask_key_stride = 1;

  /// Whether any query may miss any key.
  VITASCOPE_HOST_DEVICE bool restricts() const {
    return causal || window >= 0 || grid.rows > 0 || key_lengths != nullptr || mask != nullptr;
  }

  VITASCOPE_HOST_DEVICE bool sees(std::int64_t b, std::int64_t h, std::int64_t query,
                                  std::int64_t key) const {
    if (causal && key > query) return false;
    if (window >= 0 && (key - query > window || query - key > window)) return false;
    if (grid.rows > 0 && !grid.sees(query, key)) return false;
    if (key_lengths != nullptr && key >= key_lengths[b]) return false;
    return mask == nullptr || mask[mask_strides.offset(b, h, query) + key * mask_key_stride];
  }
};

/// Dropout of probabilities: kept ones are divided by 1 - probability. Which are kept depends only
/// on the seed and the place, so that every device and the backward pass choose alike.
struct Dropout {
  float probability = 0;
  std::uint64_t seed = 0;

  /// \param head b * H + h
  VITASCOPE_HOST_DEVICE bool keeps(std::int64_t head, std::int64_t query, std::int64_t key) const {
    // Steele, Lea and Flood 2014 (SplitMix64): one mixing step per coordinate.
    std::uint64_t x = seed;
    x = mix(x + 0x9E3779B97F4A7C15ull * static_cast<std::uint64_t>(head + 1));
    x = mix(x + 0x9E3779B97F4A7C15ull * static_cast<std::uint64_t>(query + 1));
    x = mix(x + 0x9E3779B97F4A7C15ull * static_cast<std::uint64_t>(key + 1));
    return static_cast<float>(x >> 40) * 0x1p-24f >= probability;
  }

  /// What kept probabilities are multiplied by.
  VITASCOPE_HOST_DEVICE float kept_factor() const {
    return probability < 1 ? 1 / (1 - probability) : 0;
  }

 private:
  VITASCOPE_HOST_DEVICE static std::uint64_t mix(std::uint64_t x) {
    x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9ull;
    x = (x ^ (x >> 27)) * 0x94D049BB133111EBull;
    return x ^ (x >> 31);
  }
};

/// softmax(scale * q k^T + bias) v, over the keys that are visible.
struct AttentionProblem {
  std::int64_t batch = 0, heads = 0, queries = 0, keys = 0, width = 0;  ///< B, H, Nq, Nk, D
  float scale = 1;
  Element element = Element::f32;
  const void* q = nullptr;  ///< [B, H, Nq, D]
  const void* k = nullptr;  ///< [B, H, Nk, D]
  const void* v = nullptr;  ///< [B, H, Nk, D]
  Strides q_strides, k_strides, v_strides;
  Visibility visible;
  const float* bias = nullptr;  ///< [B, H, Nq, Nk], -inf hides a key
  Strides bias_strides;         ///< 0 where the bias is broadcast
  std::int64_t bias_key_stride = 1;
  Dropout dropout;
};

/// Rows begin .. end - 1 of one side.
struct Range {
  std::int64_t begin, end;
};

/// Keys outside of which the queries first .. last of a picture see none, by the rules that allow
/// one range. Others may be hidden between.
VITASCOPE_HOST_DEVICE Range keys_of(const AttentionProblem& problem, std::int64_t b,
                                    std::int64_t first, std::int64_t last) {
  const Visibility& visible = problem.visible;
  Range range{0, problem.keys};
  if (visible.causal && last + 1 < range.end) range.end = last + 1;
  if (visible.key_lengths != nullptr && visible.key_lengths[b] < range.end) {
    range.end = visible.key_lengths[b];
  }
  if (visible.window < 0) return range;
  // A window may be as wide as int64 allows.
  if (visible.window < problem.keys && last + visible.window + 1 < range.end) {
    range.end = last + visible.window + 1;
  }
  if (visible.window < first) range.begin = first - visible.window;
  return range;
}

/// Writes out and lse. A query that sees no key: out 0, lse -inf.
struct ForwardProblem : AttentionProblem {
  void* out = nullptr;  ///< [B, H, Nq, D]
  Strides out_strides;
  float* lse = nullptr;  ///< [B, H, Nq], contiguous: natural logarithm of the sum of exponentials
};

/// Writes dq, dk and dv from the gradient of out (FlashAttention-2, arXiv:2307.08691).
struct BackwardProblem : AttentionProblem {
  const void* out = nullptr;   ///< [B, H, Nq, D]
  const void* dout = nullptr;  ///< [B, H, Nq, D]
  Strides out_strides, dout_strides;
  const float* lse = nullptr;  ///< [B, H, Nq], contiguous
  void* dq = nullptr;          ///< [B, H, Nq, D]
  void* dk = nullptr;          ///< [B, H, Nk, D]
  void* dv = nullptr;          ///< [B, H, Nk, D]
  Strides dq_strides, dk_strides, dv_strides;
};

/// Writes probabilities of the rows that are asked for, before dropout.
struct MapProblem : AttentionProblem {
  const float* lse = nullptr;          ///< [B, H, Nq], contiguous
  const std::int64_t* rows = nullptr;  ///< [R]: queries; null: 0 .. R - 1
  std::int64_t row_count = 0;          ///< R
  bool head_mean = false;
  float* map = nullptr;  ///< [B, H, R, Nk], or [B, 1, R, Nk] for the mean over heads; contiguous
};

/// Writes d loss / d probability = dout v^T for the rows that are asked for; 0 for hidden keys.
struct MapGradientProblem : AttentionProblem {
  const void* dout = nullptr;  ///< [B, H, Nq, D]
  Strides dout_strides;
  const std::int64_t* rows = nullptr;  ///< [R]: queries; null: 0 .. R - 1
  std::int64_t row_count = 0;          ///< R
  float* gradient = nullptr;           ///< [B, H, R, Nk], contiguous
};

}  // namespace vitascope::kernels
