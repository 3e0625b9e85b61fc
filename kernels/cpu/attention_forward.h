#pragma once

#include "kernels/cpu/scores.h"

/// \file
/// Attention of some queries of one head. K and V are packed once; then blocks of queries see all
/// keys: scores in cache, softmax in place, the product with V. Nothing grows with Nq times Nk.
namespace vitascope::kernels::cpu::VITASCOPE_ISA {

/// Where everything lies in a thread's workspace, in floats.
template <typename Format>
struct ForwardSpace {
  std::int64_t columns, value_columns, words, block_rows, score_ld;
  std::int64_t panels, values, left, scores, probabilities, maxima, added, out, total;

  explicit ForwardSpace(const AttentionProblem& p) {
    columns = Panels::of(p.keys).columns();
    value_columns = Panels::of(p.width).columns();
    words = Format::words(p.width);
    score_ld = Panels::of(p.keys).stride();
    constexpr std::int64_t kScoreBytes = 128 << 10;  // of a second-level cache of 512 KB and more
    const std::int64_t fitting = kScoreBytes / 4 / score_ld / kRows * kRows;
    block_rows = fitting < kRows ? kRows : smaller(fitting, 8 * kRows);
    Workspace space;
    panels = space.place(columns * words);
    values = space.place(Format::words(p.keys) * value_columns);
    left = space.place(block_rows * words);
    scores = space.place(block_rows * score_ld);
    probabilities = Format::kPerWord == 1 ? scores : space.place(block_rows * score_ld / 2);
    maxima = space.place(block_rows * kLanes);
    added = space.place(columns);
    out = space.place(block_rows * value_columns);
    total = space.size;
  }
};

/// The attention of one head of one picture, in a format of formats.h.
template <typename Format>
class ForwardHead {
 public:
  ForwardHead(const ForwardProblem& problem, std::int64_t b, std::int64_t h, float* workspace)
      : p_(problem), b_(b), h_(h), space_(problem), work_(workspace) {
    masked_ = needs_mask(p_);
    Format::pack_columns(rows_of(p_.k, p_.k_strides, p_, b, h, 0, p_.keys), words(space_.panels));
    const Rows values = rows_of(p_.v, p_.v_strides, p_, b, h, 0, p_.keys);
    careful_ = masked_ && !all_finite(values);
    if (!careful_) Format::pack_summed(values, words(space_.values), space_.value_columns);
  }

  void run(std::int64_t begin, std::int64_t end) {
    for (; begin < end; begin += space_.block_rows) {
      block(begin, smaller(space_.block_rows, end - begin));
    }
  }

 private:
  using Word = typename Format::Word;

  Word* words(std::int64_t at) const { return reinterpret_cast<Word*>(work_ + at); }
  std::int64_t probability_ld() const { return Format::words(space_.score_ld); }

  void block(std::int64_t begin, std::int64_t count) {
    const Rows queries = rows_of(p_.q, p_.q_strides, p_, b_, h_, begin, count);
    const Word* left = words(space_.left);
    std::int64_t lda = space_.words;
    if (Format::kPerWord == 1 && p_.element == Element::f32) {
      left = static_cast<const Word*>(queries.first);  // float32 rows are read where they are
      lda = queries.stride;
    } else {
      Format::pack_left(queries, words(space_.left));
    }
    visible_ = masked_ ? VisibleKeys::of(p_, b_, begin, begin + count - 1) : VisibleKeys::all(p_);
    columns_ = visible_.columns();
    for (int i = 0; i < visible_.count; ++i) {
      const Run& run = visible_.runs[i];
      score<Format>(left, lda, count, words(space_.panels), space_.words, Panels::of(p_.keys),
                    run.panels, work_ + space_.scores + run.column, space_.score_ld,
                    masked_ ? nullptr : work_ + space_.maxima);
    }
    float inverse[8 * kRows];
    for (std::int64_t i = 0; i < count; ++i) inverse[i] = softmax(begin + i, i);
    multiply_values(begin, count, inverse);
  }

  /// Scores of a row -> exponentials; writes lse. \return what the row's sum is multiplied by
  float softmax(std::int64_t query, std::int64_t i) {
    float* s = work_ + space_.scores + i * space_.score_ld;
    Word* p = words(space_.probabilities) + i * probability_ld();
    float most = 0, factor = kLog2E, unit = 1;
    if (masked_) {
      for (int k = 0; k < visible_.count; ++k) {
        const Run& run = visible_.runs[k];
        added_to_scores(p_, b_, h_, query, run.keys, work_ + space_.added + run.column);
      }
      most = mask_scores(p_.scale, columns_, work_ + space_.added, s);
    } else {
      most = largest(load(work_ + space_.maxima + i * kLanes));
      factor = p_.scale * kLog2E;
      unit = p_.scale;
    }
    float& lse = p_.lse[(b_ * p_.heads + h_) * p_.queries + query];
    if (most == -kInfinity) {  // no key is visible
      for (std::int64_t j = 0; j < columns_; j += kLanes) Format::put(Vector{}, p, j);
      lse = -kInfinity;
      return 0;
    }
    const float sum = exponentials<Format>(s, columns_, most, factor, p);
    lse = most * unit + __builtin_logf(sum);
    if (p_.dropout.probability > 0) return drop(query, p) / sum;
    return 1 / sum;
  }

  /// Zeros what dropout takes. \return the factor of what it leaves
  float drop(std::int64_t query, Word* p) const {
    for (int r = 0; r < visible_.count; ++r) {
      const Run& run = visible_.runs[r];
      for (std::int64_t j = run.keys.begin; j < run.keys.end; j += kLanes) {
        float values[kLanes];
        const std::int64_t column = run.column + j - run.keys.begin;
        const std::int64_t count = smaller(kLanes, run.keys.end - j);
        for (std::int64_t k = 0; k < kLanes; ++k) {
          const bool kept = k < count && p_.dropout.keeps(b_ * p_.heads + h_, query, j + k);
          values[k] = kept ? Format::get(p, column + k) : 0;
        }
        Format::put(load(values), p, column);
      }
    }
    return p_.dropout.kept_factor();
  }

  void multiply_values(std::int64_t begin, std::int64_t count, const float* inverse) {
    float* out = work_ + space_.out;
    const Word* p = words(space_.probabilities);
    const std::int64_t lda = probability_ld();
    if (careful_) {
      for (std::int64_t i = 0; i < count; ++i) {
        careful_values(p + i * lda, inverse[i], out + i * space_.value_columns);
      }
    } else {
      each_block(count, p_.width, [&](std::int64_t row, std::int64_t at, auto r, auto c) {
        Block<decltype(r)::value, decltype(c)::value> block{};
        for (int i = 0; i < visible_.count; ++i) {
          const Run& run = visible_.runs[i];
          const Word* values =
              words(space_.values) + at + Format::words(run.keys.begin) * space_.value_columns;
          Format::template multiply_add<Order::rows>(
              p + row * lda + Format::words(run.column), lda, values, space_.value_columns,
              Format::words(run.keys.end - run.keys.begin), block);
        }
        each_vector(block, [&](int i, int j, Vector& x) {
          store(out + (row + i) * space_.value_columns + at + j * kLanes, x * inverse[row + i]);
        });
      });
    }
    write_rows(out, space_.value_columns,
               rows_of(p_.out, p_.out_strides, p_, b_, h_, begin, count));
  }

  /// One query's out, where hidden values may be NaN.
  void careful_values(const Word* probabilities, float inverse, float* out) const {
    for (std::int64_t d = 0; d < p_.width; ++d) out[d] = 0;
    for (int i = 0; i < visible_.count; ++i) {
      const Run& run = visible_.runs[i];
      const Rows values =
          rows_of(p_.v, p_.v_strides, p_, b_, h_, run.keys.begin, run.keys.end - run.keys.begin);
      careful_sum(
          [&](std::int64_t j) { return Format::get(probabilities, run.column + j) * inverse; },
          values, out);
    }
  }

  const ForwardProblem& p_;
  std::int64_t b_, h_;
  ForwardSpace<Format> space_;
  float* work_;
  bool masked_ = false, careful_ = false;
  VisibleKeys visible_;       ///< of the block in hand
  std::int64_t columns_ = 0;  ///< how many they are
};

}  // namespace vitascope::kernels::cpu::VITASCOPE_ISA
