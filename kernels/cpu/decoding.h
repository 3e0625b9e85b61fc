#pragma once

#include <cstdint>

#include "kernels/cpu/isa.h"

/// \file
/// What a decoder of captions computes for every word, divided among LibTorch's threads: scores of
/// additive attention, and products of few rows. All is float32 and contiguous; results do not
/// depend on the number of threads.
namespace vitascope::kernels::cpu {

/// v^T tanh(q + k) of every query and key of a picture (Bahdanau et al. 2015, arXiv:1409.0473).
struct AdditiveProblem {
  std::int64_t batch = 0, queries = 0, keys = 0, width = 0;  ///< B, Q, L, A
  const float* q = nullptr;                                  ///< [B, Q, A]
  const float* k = nullptr;                                  ///< [B, L, A]
  const float* v = nullptr;                                  ///< [A]
  float* scores = nullptr;                                   ///< [B, Q, L]
};

/// Writes the scores; the sums q + k are never in memory.
void additive_scores(const AdditiveProblem& problem, Isa isa);

/// Most rows of a thin product.
inline constexpr int kThinRows = 8;

/// y = x W^T + b of 1 to kThinRows rows.
struct ThinProduct {
  std::int64_t rows = 0, inputs = 0, outputs = 0;
  const float* x = nullptr;       ///< [rows, inputs]
  const float* weight = nullptr;  ///< [outputs, inputs]
  const float* bias = nullptr;    ///< [outputs], or null
  float* y = nullptr;             ///< [rows, outputs]
};

/// Writes y; every weight is read once.
void thin_product(const ThinProduct& product, Isa isa);

/// Functions compiled for one instruction set: what one thread does.
struct DecodingKernels {
  /// Keys begin .. end - 1 of all pictures, those of the first picture first.
  void (*additive_scores)(const AdditiveProblem&, std::int64_t begin, std::int64_t end);
  /// Outputs begin .. end - 1.
  void (*thin_product)(const ThinProduct&, std::int64_t begin, std::int64_t end);
};

namespace baseline {
/// \see attention_kernels.h
const DecodingKernels& decoding_kernels();
}  // namespace baseline
namespace avx2 {
/// \see attention_kernels.h
const DecodingKernels& decoding_kernels();
}  // namespace avx2
namespace avx512 {
/// \see attention_kernels.h
const DecodingKernels& decoding_kernels();
}  // namespace avx512

}  // namespace vitascope::kernels::cpu
