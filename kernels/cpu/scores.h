#pragma once

#include <cmath>
#include <limits>

#include "kernels/cpu/formats.h"
#include "kernels/cpu/visible_keys.h"

/// \file
/// Scores of a few queries against all keys of a head, and what becomes of them.
namespace vitascope::kernels::cpu::VITASCOPE_ISA {

inline constexpr float kLog2E = 1.44269504088896341f;

/// Rows begin .. begin + count - 1 of a head of q, k, v or of what has their layout.
VITASCOPE_INLINE Rows rows_of(const void* base, const Strides& strides, const AttentionProblem& p,
                              std::int64_t b, std::int64_t h, std::int64_t begin,
                              std::int64_t count) {
  return {address(base, p.element, strides.offset(b, h, begin)), strides.row, count, p.width,
          p.element};
}

/// Whether scores need more than a positive factor before their softmax.
VITASCOPE_INLINE bool needs_mask(const AttentionProblem& p) {
  return p.visible.restricts() || p.bias != nullptr || !(p.scale > 0);
}

/// s[rows][ld] = left right^T for some panels of columns.
/// \param maxima [rows][kLanes]: the largest lane of a row is its largest number; may be null
template <typename Format>
inline void score(const typename Format::Word* left, std::int64_t lda, std::int64_t rows,
                  const typename Format::Word* right, std::int64_t words, Panels panels,
                  Range range, float* s, std::int64_t ld, float* maxima) {
  const std::int64_t origin = panels.begin(range.begin) * kLanes;
  each_block(rows, panels, range.begin, range.end,
             [&](std::int64_t row, std::int64_t at, auto r, auto c) {
               Block<decltype(r)::value, decltype(c)::value> block{};
               Format::template multiply_add<Order::rows>(left + row * lda, lda, right + at * words,
                                                          c.value * kLanes, words, block);
               each_vector(block, [&](int i, int j, Vector& x) {
                 store(s + (row + i) * ld + at - origin + j * kLanes, x);
               });
               if (maxima == nullptr) return;
#pragma GCC unroll 6
               for (int i = 0; i < r.value; ++i) {
                 float* best = maxima + (row + i) * kLanes;
                 Vector most = at == origin ? block.at[i][0] : load(best);
#pragma GCC unroll 4
                 for (int j = 0; j < c.value; ++j) most = maximum(block.at[i][j], most);
                 store(best, most);
               }
             });
}

/// The same for all columns.
template <typename Format>
inline void score(const typename Format::Word* left, std::int64_t lda, std::int64_t rows,
                  const typename Format::Word* right, std::int64_t words, std::int64_t columns,
                  float* s, std::int64_t ld) {
  const Panels panels = Panels::of(columns);
  score<Format>(left, lda, rows, right, words, panels, {0, panels.count()}, s, ld, nullptr);
}

/// What is added to the scores of one query against some keys: its bias, and -infinity where a key
/// is hidden.
inline void added_to_scores(const AttentionProblem& p, std::int64_t b, std::int64_t h,
                            std::int64_t query, Range keys, float* row) {
  const Visibility& visible = p.visible;
  const float* bias = p.bias == nullptr ? nullptr : p.bias + p.bias_strides.offset(b, h, query);
  const bool* mask =
      visible.mask == nullptr ? nullptr : visible.mask + visible.mask_strides.offset(b, h, query);
  for (std::int64_t j = keys.begin; j < keys.end; ++j) row[j - keys.begin] = -kInfinity;
  each_visible_span(p, b, query, keys, [&](Range span) {
    for (std::int64_t j = span.begin; j < span.end; ++j) {
      if (mask != nullptr && !mask[j * visible.mask_key_stride]) continue;
      row[j - keys.begin] = bias == nullptr ? 0.f : bias[j * p.bias_key_stride];
    }
  });
}

/// s = scale s + added, -infinity where a key is hidden or lies behind the last, whatever s was.
/// \return the largest
inline float mask_scores(float scale, std::int64_t keys, const float* added, float* s) {
  const std::int64_t columns = Panels::of(keys).columns();
  Vector most = broadcast(-kInfinity);
  for (std::int64_t j = 0; j < columns; j += kLanes) {
    Vector more = load(added + j);
    if (j + kLanes > keys) {
      const Integers inside = lane_numbers() < static_cast<std::int32_t>(keys - j);
      more = inside ? more : broadcast(-kInfinity);
    }
    const Vector hidden = broadcast(-kInfinity);
    const Vector x = more == hidden ? hidden : load(s + j) * scale + more;
    most = maximum(x, most);
    store(s + j, x);
  }
  return largest(most);
}

/// Probabilities before they are divided by their sum: exp2(factor (s - most)), zeros behind the
/// last key. May work in place.
/// \return the sum
template <typename Format>
VITASCOPE_INLINE float exponentials(const float* s, std::int64_t keys, float most, float factor,
                                    typename Format::Word* p) {
  const auto at = [&](std::int64_t j) {
    return exp2_of_negative<Format::kExpDegree>((load(s + j) - most) * factor);
  };
  Vector total{};
  std::int64_t j = 0;
  for (; j + kLanes <= keys; j += kLanes) {
    const Vector e = at(j);
    total += e;
    Format::put(e, p, j);
  }
  if (j < keys) {
    const Vector e = first_lanes(at(j), keys - j);
    total += e;
    Format::put(e, p, j);
  }
  return sum(total);
}

/// A query's logarithm of the sum; infinity where it sees nothing, which makes its probabilities 0.
template <typename Problem>
VITASCOPE_INLINE float lse_of(const Problem& p, std::int64_t b, std::int64_t h,
                              std::int64_t query) {
  const float lse = p.lse[(b * p.heads + h) * p.queries + query];
  return lse == -kInfinity ? kInfinity : lse;
}

/// Probabilities from what lse_of gives: exp(factor s - lse), 0 where s is -infinity.
template <typename Format>
VITASCOPE_INLINE Vector probabilities(const float* s, float factor, float lse) {
  return exp2_of_negative<Format::kExpDegree>((load(s) * factor - lse) * kLog2E);
}

/// Whether all numbers are finite.
inline bool all_finite(const Rows& rows) {
  for (std::int64_t i = 0; i < rows.count; ++i) {
    float values[kLanes];
    for (std::int64_t d = 0; d < rows.width; d += kLanes) {
      const std::int64_t count = smaller(kLanes, rows.width - d);
      read_row(address(rows.at(i), rows.element, d), rows.element, count, values);
      for (std::int64_t k = 0; k < count; ++k) {
        if (!(std::abs(values[k]) <= std::numeric_limits<float>::max())) return false;
      }
    }
  }
  return true;
}

/// to += sum_j weights[j] rows[j] over the weights that are not 0: what hidden keys hold, be it
/// NaN, does not matter. Slow; for heads that hold such numbers.
template <typename Weight>
inline void careful_sum(const Weight& weight, const Rows& rows, float* to) {
  for (std::int64_t j = 0; j < rows.count; ++j) {
    const float w = weight(j);
    if (w == 0) continue;
    for (std::int64_t d = 0; d < rows.width; ++d) {
      float value;
      read_row(address(rows.at(j), rows.element, d), rows.element, 1, &value);
      to[d] += w * value;
    }
  }
}

}  // namespace vitascope::kernels::cpu::VITASCOPE_ISA
