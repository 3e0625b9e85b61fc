#pragma once

#include "kernels/cpu/scores.h"

/// \file
/// Gradients of one head, in float32. Tiles of keys that fit in cache with their gradients see all
/// queries, block by block; scores and their gradients are computed again from lse. dk and dv
/// gather in the workspace in the order of the queries, dq in the order of the keys: always the
/// same.
namespace vitascope::kernels::cpu::VITASCOPE_ISA {

/// Where everything lies in a thread's workspace, in floats.
struct BackwardSpace {
  std::int64_t tile, width, ld;
  std::int64_t key_panels, value_panels, keys, dk, dv, q, dout, s, ds, dq, delta, added, total;

  static constexpr std::int64_t kBlockRows = 8 * kRows;

  explicit BackwardSpace(const AttentionProblem& p) {
    constexpr std::int64_t kTileKeys = 256;  // as equal as can be, 256 or a few less
    const std::int64_t tiles = (p.keys + kTileKeys - 1) / kTileKeys;
    tile = round_up((p.keys + tiles - 1) / tiles, kLanes);
    width = Panels::of(p.width).columns();
    ld = Panels::of(tile).stride();
    Workspace space;
    key_panels = space.place(tile * p.width);
    value_panels = space.place(tile * p.width);
    keys = space.place(tile * width);
    dk = space.place(tile * width);
    dv = space.place(tile * width);
    q = space.place(kBlockRows * width);
    dout = space.place(kBlockRows * width);
    s = space.place(kBlockRows * ld);
    ds = space.place(kBlockRows * ld);
    dq = space.place(p.queries * width);
    delta = space.place(p.queries);
    added = space.place(tile);
    total = space.size;
  }
};

/// The gradients of one head of one picture.
class BackwardHead {
 public:
  BackwardHead(const BackwardProblem& problem, std::int64_t b, std::int64_t h, float* workspace)
      : p_(problem),
        b_(b),
        h_(h),
        space_(problem),
        work_(workspace),
        masked_(needs_mask(problem)) {}

  void run() {
    clear(work_ + space_.dq, p_.queries * space_.width);
    for (std::int64_t i = 0; i < p_.queries; ++i) {
      work_[space_.delta + i] = output_times_gradient(i);
    }
    for (std::int64_t begin = 0; begin < p_.keys; begin += space_.tile) {
      tile({begin, smaller(begin + space_.tile, p_.keys)});
    }
    write_rows(work_ + space_.dq, space_.width, rows(p_.dq, p_.dq_strides, 0, p_.queries));
  }

 private:
  static void clear(float* to, std::int64_t count) {
    for (std::int64_t i = 0; i < count; ++i) to[i] = 0;
  }

  Rows rows(const void* base, const Strides& strides, std::int64_t begin,
            std::int64_t count) const {
    return rows_of(base, strides, p_, b_, h_, begin, count);
  }

  /// sum_d out dout, which is sum_j p_j d loss / d p_j.
  float output_times_gradient(std::int64_t query) {
    float* out = work_ + space_.q;
    float* dout = work_ + space_.dout;
    pack_rows(rows(p_.out, p_.out_strides, query, 1), out, space_.width);
    pack_rows(rows(p_.dout, p_.dout_strides, query, 1), dout, space_.width);
    Vector total{};
    for (std::int64_t d = 0; d < space_.width; d += kLanes) {
      total += load(out + d) * load(dout + d);
    }
    return sum(total);
  }

  void tile(Range range) {
    range_ = range;
    count_ = range.end - range.begin;
    const Rows keys = rows(p_.k, p_.k_strides, range.begin, count_);
    Float32::pack_columns(keys, work_ + space_.key_panels);
    Float32::pack_columns(rows(p_.v, p_.v_strides, range.begin, count_),
                          work_ + space_.value_panels);
    pack_rows(keys, work_ + space_.keys, space_.width);
    careful_ = masked_ && !all_finite(keys);
    clear(work_ + space_.dk, count_ * space_.width);
    clear(work_ + space_.dv, count_ * space_.width);
    for (std::int64_t begin = 0; begin < p_.queries; begin += BackwardSpace::kBlockRows) {
      block(begin, smaller(BackwardSpace::kBlockRows, p_.queries - begin));
    }
    write_rows(work_ + space_.dk, space_.width, rows(p_.dk, p_.dk_strides, range.begin, count_));
    write_rows(work_ + space_.dv, space_.width, rows(p_.dv, p_.dv_strides, range.begin, count_));
  }

  void block(std::int64_t begin, std::int64_t count) {
    float* q = work_ + space_.q;
    float* dout = work_ + space_.dout;
    float* s = work_ + space_.s;
    float* ds = work_ + space_.ds;
    pack_rows(rows(p_.q, p_.q_strides, begin, count), q, space_.width);
    pack_rows(rows(p_.dout, p_.dout_strides, begin, count), dout, space_.width);
    score<Float32>(q, space_.width, count, work_ + space_.key_panels, p_.width, count_, s,
                   space_.ld, nullptr);
    score<Float32>(dout, space_.width, count, work_ + space_.value_panels, p_.width, count_, ds,
                   space_.ld, nullptr);
    for (std::int64_t i = 0; i < count; ++i) score_gradient(begin + i, i);
    gather<Order::columns>(s, dout, count_, count, work_ + space_.dv);
    gather<Order::columns>(ds, q, count_, count, work_ + space_.dk);
    query_gradient(begin, count);
  }

  /// s and ds of a row hold scores and d loss / d probability; afterwards what dv and dk sum up:
  /// probabilities after dropout, and d loss / d score times the scale.
  void score_gradient(std::int64_t query, std::int64_t i) {
    float* s = work_ + space_.s + i * space_.ld;
    float* ds = work_ + space_.ds + i * space_.ld;
    if (masked_) {
      added_to_scores(p_, b_, h_, query, range_, work_ + space_.added);
      mask_scores(p_.scale, count_, work_ + space_.added, s);
    }
    const std::int64_t head = b_ * p_.heads + h_;
    probabilities(s, count_, masked_ ? 1 : p_.scale, p_.lse[head * p_.queries + query], s);
    const Vector delta = broadcast(work_[space_.delta + query]);
    const float left = p_.dropout.kept_factor();
    for (std::int64_t j = 0; j < count_; j += kLanes) {
      const Vector p = load(s + j);
      Vector factor = broadcast(1);
      if (p_.dropout.probability > 0) {
        for (int k = 0; k < kLanes; ++k) {
          factor[k] = p_.dropout.keeps(head, query, range_.begin + j + k) ? left : 0;
        }
      }
      // A hidden key's v may be NaN: its gradient is 0 all the same.
      const Vector gradient = p * (load(ds + j) * factor - delta) * p_.scale;
      store(ds + j, p == 0.f ? Vector{} : gradient);
      store(s + j, p * factor);
    }
  }

  /// to[rows][width] += left right, summed over `depth`.
  template <Order kOrder>
  void gather(const float* left, const float* right, std::int64_t rows, std::int64_t depth,
              float* to) {
    each_block(rows, p_.width, [&](std::int64_t row, std::int64_t at, auto r, auto c) {
      const auto place = [&](int i, int column) {
        return to + (row + i) * space_.width + at + column * kLanes;
      };
      Block<decltype(r)::value, decltype(c)::value> block;
      each_vector(block, [&](int i, int column, Vector& x) { x = load(place(i, column)); });
      const float* from = left + row * (kOrder == Order::rows ? space_.ld : 1);
      multiply<kOrder>(from, space_.ld, right + at, space_.width, depth, block);
      each_vector(block, [&](int i, int column, Vector& x) { store(place(i, column), x); });
    });
  }

  void query_gradient(std::int64_t begin, std::int64_t count) {
    float* dq = work_ + space_.dq + begin * space_.width;
    const float* ds = work_ + space_.ds;
    if (!careful_) {
      gather<Order::rows>(ds, work_ + space_.keys, count, count_, dq);
      return;
    }
    const Rows keys = rows(p_.k, p_.k_strides, range_.begin, count_);
    float* sums = work_ + space_.q;
    for (std::int64_t i = 0; i < count; ++i) {
      const float* row = ds + i * space_.ld;
      careful_sum([row](std::int64_t j) { return row[j]; }, keys, sums);
      for (std::int64_t d = 0; d < p_.width; ++d) dq[i * space_.width + d] += sums[d];
    }
  }

  const BackwardProblem& p_;
  std::int64_t b_, h_;
  BackwardSpace space_;
  float* work_;
  bool masked_, careful_ = false;
  Range range_{0, 0};       ///< keys of the tile in hand
  std::int64_t count_ = 0;  ///< how many they are
};

}  // namespace vitascope::kernels::cpu::VITASCOPE_ISA
