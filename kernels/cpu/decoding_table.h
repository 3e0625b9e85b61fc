#pragma once

#include "kernels/cpu/decoding.h"
#include "kernels/cpu/vector.h"

/// \file
/// What a decoder computes for every word, for the instruction set that this file is compiled for.
namespace vitascope::kernels::cpu::VITASCOPE_ISA {

/// `count` floats, fewer than kLanes, and zeros behind.
VITASCOPE_INLINE Vector load_some(const float* from, std::int64_t count) {
  Vector x{};
  for (std::int64_t i = 0; i < count; ++i) x[i] = from[i];
  return x;
}

/// v tanh(x), tanh within 2e-7: (1 - t) / (1 + t) of |x|, t = e^(-2 |x|).
VITASCOPE_INLINE Vector weighted_tanh(Vector x, Vector v) {
  constexpr float kTwiceLog2OfE = 2.88539008f;
  const Vector t = exp2_of_negative((x < 0 ? x : -x) * kTwiceLog2OfE);
  return (x < 0 ? -v : v) * ((1 - t) / (1 + t));
}

/// v^T tanh(q + k) of one query and one key.
VITASCOPE_INLINE float additive_score(const float* q, const float* k, const float* v,
                                      std::int64_t width) {
  Vector total{};
  std::int64_t i = 0;
  for (; i + kLanes <= width; i += kLanes) {
    total += weighted_tanh(load(q + i) + load(k + i), load(v + i));
  }
  if (i < width) {
    const std::int64_t left = width - i;
    total += weighted_tanh(load_some(q + i, left) + load_some(k + i, left), load_some(v + i, left));
  }
  return sum(total);
}

/// See decoding.h.
inline void additive_scores(const AdditiveProblem& p, std::int64_t begin, std::int64_t end) {
  for (std::int64_t row = begin; row < end; ++row) {
    const std::int64_t b = row / p.keys;
    for (std::int64_t query = b * p.queries; query < (b + 1) * p.queries; ++query) {
      p.scores[query * p.keys + row % p.keys] =
          additive_score(p.q + query * p.width, p.k + row * p.width, p.v, p.width);
    }
  }
}

/// Output `o` of kCount rows.
template <int kCount>
VITASCOPE_INLINE void thin_output(const ThinProduct& p, std::int64_t o) {
  const float* weight = p.weight + o * p.inputs;
  Vector sums[kCount] = {};
  std::int64_t i = 0;
  for (; i + kLanes <= p.inputs; i += kLanes) {
    const Vector w = load(weight + i);
#pragma GCC unroll 8
    for (int r = 0; r < kCount; ++r) sums[r] += w * load(p.x + r * p.inputs + i);
  }
  if (i < p.inputs) {
    const Vector w = load_some(weight + i, p.inputs - i);
#pragma GCC unroll 8
    for (int r = 0; r < kCount; ++r) {
      sums[r] += w * load_some(p.x + r * p.inputs + i, p.inputs - i);
    }
  }
#pragma GCC unroll 8
  for (int r = 0; r < kCount; ++r) {
    const float y = sum(sums[r]);
    p.y[r * p.outputs + o] = p.bias == nullptr ? y : y + p.bias[o];
  }
}

/// Outputs begin .. end - 1 of at most kCount rows.
template <int kCount>
inline void thin_outputs(const ThinProduct& p, std::int64_t begin, std::int64_t end) {
  if constexpr (kCount > 0) {
    if (p.rows < kCount) return thin_outputs<kCount - 1>(p, begin, end);
    for (std::int64_t o = begin; o < end; ++o) thin_output<kCount>(p, o);
  }
}

/// See decoding.h.
inline void thin_product(const ThinProduct& p, std::int64_t begin, std::int64_t end) {
  thin_outputs<kThinRows>(p, begin, end);
}

/// See decoding.h.
const DecodingKernels& decoding_kernels() {
  static constexpr DecodingKernels kernels{additive_scores, thin_product};
  return kernels;
}

}  // namespace vitascope::kernels::cpu::VITASCOPE_ISA
