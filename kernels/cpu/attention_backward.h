#pragma once

#include "kernels/cpu/scores.h"

/// \file
/// Gradients of one head, in float32. Blocks of queries go by once; scores and their gradients are
/// computed again from lse, and dk and dv gather in the workspace, in the order of the queries.
namespace vitascope::kernels::cpu::VITASCOPE_ISA {

/// Where everything lies in a thread's workspace, in floats.
struct BackwardSpace {
  std::int64_t columns, width, ld, block_rows;
  std::int64_t key_panels, value_panels, keys, dk, dv, q, dout, s, ds, dq, added, total;

  explicit BackwardSpace(const AttentionProblem& p) {
    columns = Panels::of(p.keys).columns();
    width = Panels::of(p.width).columns();
    ld = columns / kLanes % 2 == 0 ? columns + kLanes : columns;
    constexpr std::int64_t kScoreBytes = 256 << 10;  // scores and their gradients
    const std::int64_t fitting = kScoreBytes / 8 / ld / kRows * kRows;
    block_rows = fitting < 2 * kRows ? 2 * kRows : smaller(fitting, 8 * kRows);
    std::int64_t next = 0;
    const auto place = [&next](std::int64_t floats) {
      const std::int64_t at = next;
      next += round_up(floats, 16);
      return at;
    };
    key_panels = place(columns * p.width);
    value_panels = place(columns * p.width);
    keys = place(p.keys * width);
    dk = place(p.keys * width);
    dv = place(p.keys * width);
    q = place(block_rows * width);
    dout = place(block_rows * width);
    s = place(block_rows * ld);
    ds = place(block_rows * ld);
    dq = place(block_rows * width);
    added = place(columns);
    total = next;
  }
};

class BackwardHead {
 public:
  BackwardHead(const BackwardProblem& problem, std::int64_t b, std::int64_t h, float* workspace)
      : p_(problem), b_(b), h_(h), space_(problem), work_(workspace), masked_(needs_mask(problem)) {
    const Rows keys = rows_of(p_.k, p_.k_strides, p_, b, h, 0, p_.keys);
    const Rows values = rows_of(p_.v, p_.v_strides, p_, b, h, 0, p_.keys);
    Float32::pack_columns(keys, work_ + space_.key_panels);
    Float32::pack_columns(values, work_ + space_.value_panels);
    pack_rows(keys, work_ + space_.keys, space_.width);
    careful_ = masked_ && !all_finite(keys);
    for (std::int64_t i = 0; i < p_.keys * space_.width; ++i) {
      work_[space_.dk + i] = work_[space_.dv + i] = 0;
    }
  }

  void run() {
    for (std::int64_t begin = 0; begin < p_.queries; begin += space_.block_rows) {
      block(begin, smaller(space_.block_rows, p_.queries - begin));
    }
    write(work_ + space_.dk, p_.keys, p_.dk, p_.dk_strides, 0);
    write(work_ + space_.dv, p_.keys, p_.dv, p_.dv_strides, 0);
  }

 private:
  void block(std::int64_t begin, std::int64_t count) {
    float* q = work_ + space_.q;
    float* dout = work_ + space_.dout;
    float* s = work_ + space_.s;
    float* ds = work_ + space_.ds;
    pack_rows(rows_of(p_.q, p_.q_strides, p_, b_, h_, begin, count), q, space_.width);
    pack_rows(rows_of(p_.dout, p_.dout_strides, p_, b_, h_, begin, count), dout, space_.width);
    score<Float32>(q, space_.width, count, work_ + space_.key_panels, p_.width, p_.keys, s,
                   space_.ld, nullptr);
    score<Float32>(dout, space_.width, count, work_ + space_.value_panels, p_.width, p_.keys, ds,
                   space_.ld, nullptr);
    for (std::int64_t i = 0; i < count; ++i) score_gradient(begin + i, i);
    gather(s, dout, count, work_ + space_.dv);
    gather(ds, q, count, work_ + space_.dk);
    query_gradient(begin, count);
  }

  /// s and ds of a row hold scores and d loss / d probability; afterwards what dv and dk sum up:
  /// probabilities after dropout, and d loss / d score times the scale.
  void score_gradient(std::int64_t query, std::int64_t i) {
    float* s = work_ + space_.s + i * space_.ld;
    float* ds = work_ + space_.ds + i * space_.ld;
    if (masked_) {
      added_to_scores(p_, b_, h_, query, work_ + space_.added);
      mask_scores(p_, work_ + space_.added, s);
    }
    const std::int64_t head = b_ * p_.heads + h_;
    probabilities(s, p_.keys, masked_ ? 1 : p_.scale, p_.lse[head * p_.queries + query], s);
    const Vector delta = broadcast(output_times_gradient(query, i));
    const float left = 1 / (1 - p_.dropout.probability);
    for (std::int64_t j = 0; j < p_.keys; j += kLanes) {
      const Vector p = load(s + j);
      Vector factor = broadcast(1);
      if (p_.dropout.probability > 0) {
        for (int k = 0; k < kLanes; ++k) {
          factor[k] = p_.dropout.keeps(head, query, j + k) ? left : 0;
        }
      }
      // A hidden key's v may be NaN: its gradient is 0 all the same.
      const Vector gradient = p * (load(ds + j) * factor - delta) * p_.scale;
      store(ds + j, p == 0.f ? Vector{} : gradient);
      store(s + j, p * factor);
    }
  }

  /// sum_d out dout, which is sum_j p_j d loss / d p_j.
  float output_times_gradient(std::int64_t query, std::int64_t i) {
    float* out = work_ + space_.dq;
    const float* dout = work_ + space_.dout + i * space_.width;
    pack_rows(rows_of(p_.out, p_.out_strides, p_, b_, h_, query, 1), out, space_.width);
    Vector total{};
    for (std::int64_t d = 0; d < space_.width; d += kLanes) total += load(out + d) * load(dout + d);
    return sum(total);
  }

  /// to[keys][width] += left^T right over the rows of the block.
  void gather(const float* left, const float* right, std::int64_t count, float* to) {
    const Panels split = Panels::of(p_.width);
    for (std::int64_t panel = 0; panel < split.count(); ++panel) {
      const std::int64_t at = split.begin(panel) * kLanes;
      for (std::int64_t j = 0; j < p_.keys; j += kRows) {
        with_block(smaller(kRows, p_.keys - j), split.size(panel), [&](auto r, auto c) {
          Block<decltype(r)::value, decltype(c)::value> block;
          each_vector(block, [&](int row, int column, Vector& x) {
            x = load(to + (j + row) * space_.width + at + column * kLanes);
          });
          multiply<Order::columns>(left + j, space_.ld, right + at, space_.width, count, block);
          each_vector(block, [&](int row, int column, Vector& x) {
            store(to + (j + row) * space_.width + at + column * kLanes, x);
          });
        });
      }
    }
  }

  void query_gradient(std::int64_t begin, std::int64_t count) {
    float* dq = work_ + space_.dq;
    const float* ds = work_ + space_.ds;
    const Panels split = Panels::of(p_.width);
    if (careful_) {
      const Rows keys = rows_of(p_.k, p_.k_strides, p_, b_, h_, 0, p_.keys);
      for (std::int64_t i = 0; i < count; ++i) {
        const float* row = ds + i * space_.ld;
        careful_sum([row](std::int64_t j) { return row[j]; }, keys, dq + i * space_.width);
      }
    } else {
      for (std::int64_t panel = 0; panel < split.count(); ++panel) {
        const std::int64_t at = split.begin(panel) * kLanes;
        for (std::int64_t row = 0; row < count; row += kRows) {
          with_block(smaller(kRows, count - row), split.size(panel), [&](auto r, auto c) {
            Block<decltype(r)::value, decltype(c)::value> block{};
            multiply<Order::rows>(ds + row * space_.ld, space_.ld, work_ + space_.keys + at,
                                  space_.width, p_.keys, block);
            each_vector(block, [&](int i, int column, Vector& x) {
              store(dq + (row + i) * space_.width + at + column * kLanes, x);
            });
          });
        }
      }
    }
    write(dq, count, p_.dq, p_.dq_strides, begin);
  }

  void write(const float* from, std::int64_t count, void* to, const Strides& strides,
             std::int64_t begin) const {
    for (std::int64_t i = 0; i < count; ++i) {
      void* row = const_cast<void*>(address(to, p_.element, strides.offset(b_, h_, begin + i)));
      write_row(from + i * space_.width, p_.element, p_.width, row);
    }
  }

  const BackwardProblem& p_;
  std::int64_t b_, h_;
  BackwardSpace space_;
  float* work_;
  bool masked_, careful_ = false;
};

}  // namespace vitascope::kernels::cpu::VITASCOPE_ISA
