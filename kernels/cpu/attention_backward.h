#pragma once

#include "kernels/cpu/scores.h"

/// \file
/// Gradients of one head. Tiles of keys that fit in cache with their gradients see all queries,
/// block by block; scores and their gradients are computed again from lse. dk and dv gather in the
/// workspace in the order of the queries, dq in the order of the keys, in float32: always the same.
namespace vitascope::kernels::cpu::VITASCOPE_ISA {

/// Where everything lies in a thread's workspace, in floats.
template <typename Format>
struct BackwardSpace {
  std::int64_t tile, width, words, ld, row_words;
  std::int64_t key_panels, value_panels, keys, dk, dv;
  std::int64_t left_ld, q_left, q_summed, dout_left, dout_summed;
  std::int64_t s, ds, probabilities, gradients, gradient_rows;
  std::int64_t dq, delta, added, total;

  static constexpr std::int64_t kBlockRows = 16 * kRows;

  explicit BackwardSpace(const AttentionProblem& p) {
    constexpr std::int64_t kTileKeys = 256;  // as equal as can be, 256 or a few less
    const std::int64_t tiles = (p.keys + kTileKeys - 1) / kTileKeys;
    tile = round_up((p.keys + tiles - 1) / tiles, kLanes);
    width = Panels::of(p.width).columns();
    words = Format::words(p.width);
    ld = Panels::of(tile).stride();
    row_words = Format::words(ld);
    Workspace space;
    key_panels = space.place(tile * words);
    value_panels = space.place(tile * words);
    keys = space.place(Format::words(tile) * width);
    dk = space.place(tile * width);
    dv = space.place(tile * width);
    // Floats serve every product where they are; pairs along rows and along columns differ.
    constexpr bool kInPlace = Format::kPerWord == 1;
    left_ld = kInPlace ? width : words;
    q_summed = space.place(Format::words(kBlockRows) * width);
    q_left = kInPlace ? q_summed : space.place(kBlockRows * words);
    dout_summed = space.place(Format::words(kBlockRows) * width);
    dout_left = kInPlace ? dout_summed : space.place(kBlockRows * words);
    s = space.place(kBlockRows * ld);
    ds = space.place(kBlockRows * ld);
    probabilities = kInPlace ? s : space.place(Format::words(kBlockRows) * ld);
    gradients = kInPlace ? ds : space.place(Format::words(kBlockRows) * ld);
    gradient_rows = kInPlace ? ds : space.place(kBlockRows * row_words);
    dq = space.place(p.queries * width);
    delta = space.place(p.queries);
    added = space.place(tile);
    total = space.size;
  }
};

/// The gradients of one head of one picture, in a format of formats.h.
template <typename Format>
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
    outputs_times_gradients();
    for (std::int64_t begin = 0; begin < p_.keys; begin += space_.tile) {
      tile({begin, smaller(begin + space_.tile, p_.keys)});
    }
    write_rows(work_ + space_.dq, space_.width, rows(p_.dq, p_.dq_strides, 0, p_.queries));
  }

 private:
  using Word = typename Format::Word;

  static void clear(float* to, std::int64_t count) {
    for (std::int64_t i = 0; i < count; ++i) to[i] = 0;
  }

  Word* words(std::int64_t at) const { return reinterpret_cast<Word*>(work_ + at); }

  Rows rows(const void* base, const Strides& strides, std::int64_t begin,
            std::int64_t count) const {
    return rows_of(base, strides, p_, b_, h_, begin, count);
  }

  /// delta = sum_d out dout of each query, which is sum_j p_j d loss / d p_j.
  void outputs_times_gradients() {
    const Rows out = rows(p_.out, p_.out_strides, 0, p_.queries);
    const Rows dout = rows(p_.dout, p_.dout_strides, 0, p_.queries);
    constexpr std::int64_t kAhead = 8;
    for (std::int64_t i = 0; i < p_.queries; ++i) {
      prefetch_row(out, i + kAhead);
      prefetch_row(dout, i + kAhead);
      Vector total{};
      for (std::int64_t d = 0; d < p_.width; d += kLanes) {
        total += read_vector(out, i, d) * read_vector(dout, i, d);
      }
      work_[space_.delta + i] = sum(total);
    }
  }

  void tile(Range range) {
    range_ = range;
    count_ = range.end - range.begin;
    const Rows keys = rows(p_.k, p_.k_strides, range.begin, count_);
    Format::pack_columns(keys, words(space_.key_panels));
    Format::pack_columns(rows(p_.v, p_.v_strides, range.begin, count_), words(space_.value_panels));
    Format::pack_summed(keys, words(space_.keys), space_.width);
    careful_ = masked_ && !all_finite(keys);
    clear(work_ + space_.dk, count_ * space_.width);
    clear(work_ + space_.dv, count_ * space_.width);
    constexpr std::int64_t kBlockRows = BackwardSpace<Format>::kBlockRows;
    for (std::int64_t begin = 0; begin < p_.queries; begin += kBlockRows) {
      const std::int64_t count = smaller(kBlockRows, p_.queries - begin);
      if (!masked_ || sees_tile(begin, count)) block(begin, count);
    }
    write_rows(work_ + space_.dk, space_.width, rows(p_.dk, p_.dk_strides, range.begin, count_));
    write_rows(work_ + space_.dv, space_.width, rows(p_.dv, p_.dv_strides, range.begin, count_));
  }

  /// Whether any of the queries may see any key of the tile.
  bool sees_tile(std::int64_t begin, std::int64_t count) const {
    const VisibleKeys visible = VisibleKeys::of(p_, b_, begin, begin + count - 1);
    for (int i = 0; i < visible.count; ++i) {
      const Range shared = common_part(visible.runs[i].keys, range_);
      if (shared.begin < shared.end) return true;
    }
    return false;
  }

  void block(std::int64_t begin, std::int64_t count) {
    multiply_rows(rows(p_.q, p_.q_strides, begin, count), space_.q_left, space_.q_summed,
                  space_.key_panels, work_ + space_.s);
    multiply_rows(rows(p_.dout, p_.dout_strides, begin, count), space_.dout_left,
                  space_.dout_summed, space_.value_panels, work_ + space_.ds);
    for (std::int64_t i = 0; i < count; i += Format::kPerWord) {
      const std::int64_t rows = smaller(Format::kPerWord, count - i);
      if (p_.dropout.probability > 0) {
        score_gradients<true>(begin + i, i, rows);
      } else {
        score_gradients<false>(begin + i, i, rows);
      }
    }
    const std::int64_t depth = Format::words(count);
    gather<Order::columns>(words(space_.probabilities), space_.ld, words(space_.dout_summed),
                           count_, depth, work_ + space_.dv);
    gather<Order::columns>(words(space_.gradients), space_.ld, words(space_.q_summed), count_,
                           depth, work_ + space_.dk);
    query_gradient(begin, count);
  }

  /// products = left panels^T; packs `left` for the gradients of the tile as well.
  void multiply_rows(const Rows& left, std::int64_t packed, std::int64_t summed,
                     std::int64_t panels, float* products) {
    Format::pack_summed(left, words(summed), space_.width);
    if (packed != summed) Format::pack_left(left, words(packed));
    score<Format>(words(packed), space_.left_ld, left.count, words(panels), space_.words, count_,
                  products, space_.ld);
  }

  /// Scores and d loss / d probability of `count` neighbouring rows from i on become what dv and dk
  /// sum up: probabilities after dropout, and d loss / d score times the scale.
  template <bool kDrops>
  void score_gradients(std::int64_t query, std::int64_t i, std::int64_t count) {
    RowOfScores rows[Format::kPerWord] = {row_of_scores(query, i)};
    for (std::int64_t r = 1; r < Format::kPerWord; ++r) {
      if (r < count) {
        rows[r] = row_of_scores(query + r, i + r);
      } else {  // there is no such row: zeros, written behind the last
        rows[r] = {rows[0].s, rows[0].dp, rows[0].ds + r * space_.row_words, kInfinity, 0};
      }
    }
    const float factor = masked_ ? 1 : p_.scale, scale = p_.scale;
    const float left = p_.dropout.kept_factor();
    const std::int64_t word = i / Format::kPerWord * space_.ld, keys = count_;
    Word* const probabilities_to = words(space_.probabilities) + word;
    Word* const gradients_to = words(space_.gradients) + word;
    for (std::int64_t j = 0; j < keys; j += kLanes) {
      Vector p[Format::kPerWord] = {}, ds[Format::kPerWord] = {};
#pragma GCC unroll 2
      for (int r = 0; r < Format::kPerWord; ++r) {
        const RowOfScores& row = rows[r];
        p[r] = probabilities<Format>(row.s + j, factor, row.lse);
        Vector dp = load(row.dp + j);
        Vector kept = broadcast(1);
        if constexpr (kDrops) {
          for (int k = 0; k < kLanes; ++k) {
            kept[k] =
                p_.dropout.keeps(b_ * p_.heads + h_, query + r, range_.begin + j + k) ? left : 0;
          }
          dp *= kept;
        }
        // A hidden key's v may be NaN: its gradient is 0 all the same.
        ds[r] = p[r] == 0.f ? Vector{} : p[r] * (dp * scale - row.delta);
        if constexpr (kDrops) p[r] *= kept;
        if constexpr (Format::kPerWord > 1) Format::put(ds[r], row.ds, j);
      }
      Format::put_rows(p, probabilities_to, j);
      Format::put_rows(ds, gradients_to, j);
    }
  }

  /// What the gradients of a row's scores are made of.
  struct RowOfScores {
    const float *s, *dp;  ///< scores, -infinity where a key is hidden; d loss / d probability
    Word* ds;             ///< where d loss / d score goes for the row's own gradient
    float lse;            ///< as lse_of gives it
    float delta;          ///< sum_j p_j d loss / d p_j, times the scale
  };

  RowOfScores row_of_scores(std::int64_t query, std::int64_t i) {
    float* s = work_ + space_.s + i * space_.ld;
    if (masked_) {
      added_to_scores(p_, b_, h_, query, range_, work_ + space_.added);
      mask_scores(p_.scale, count_, work_ + space_.added, s);
    } else if (const std::int64_t tail = count_ % kLanes; tail != 0) {
      float* last = s + count_ - tail;
      store(last,
            lane_numbers() < static_cast<std::int32_t>(tail) ? load(last) : broadcast(-kInfinity));
    }
    return {s, work_ + space_.ds + i * space_.ld,
            words(space_.gradient_rows) + i * space_.row_words, lse_of(p_, b_, h_, query),
            work_[space_.delta + query] * p_.scale};
  }

  /// to[rows][width] += left right, summed over `depth` words.
  template <Order kOrder>
  void gather(const Word* left, std::int64_t ld, const Word* right, std::int64_t rows,
              std::int64_t depth, float* to) {
    each_block(rows, p_.width, [&](std::int64_t row, std::int64_t at, auto r, auto c) {
      const auto place = [&](int i, int column) {
        return to + (row + i) * space_.width + at + column * kLanes;
      };
      Block<decltype(r)::value, decltype(c)::value> block;
      each_vector(block, [&](int i, int column, Vector& x) { x = load(place(i, column)); });
      const Word* from = left + row * (kOrder == Order::rows ? ld : 1);
      Format::template multiply_add<kOrder>(from, ld, right + at, space_.width, depth, block);
      each_vector(block, [&](int i, int column, Vector& x) { store(place(i, column), x); });
    });
  }

  void query_gradient(std::int64_t begin, std::int64_t count) {
    float* dq = work_ + space_.dq + begin * space_.width;
    const Word* ds = words(space_.gradient_rows);
    if (!careful_) {
      gather<Order::rows>(ds, space_.row_words, words(space_.keys), count, Format::words(count_),
                          dq);
      return;
    }
    const Rows keys = rows(p_.k, p_.k_strides, range_.begin, count_);
    for (std::int64_t i = 0; i < count; ++i) {
      const Word* row = ds + i * space_.row_words;
      careful_sum([row](std::int64_t j) { return Format::get(row, j); }, keys,
                  dq + i * space_.width);
    }
  }

  const BackwardProblem& p_;
  std::int64_t b_, h_;
  BackwardSpace<Format> space_;
  float* work_;
  bool masked_, careful_ = false;
  Range range_{0, 0};       ///< keys of the tile in hand
  std::int64_t count_ = 0;  ///< how many they are
};

}  // namespace vitascope::kernels::cpu::VITASCOPE_ISA
