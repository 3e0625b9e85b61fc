#pragma once

#include "kernels/cpu/scores.h"

/// \file
/// Probabilities, and the gradients that they would get, of the queries that are asked for.
namespace vitascope::kernels::cpu::VITASCOPE_ISA {

inline constexpr std::int64_t kMapRows = 4 * kRows;

/// Where everything lies in a thread's workspace, in floats.
struct MapSpace {
  std::int64_t columns, panels, left, s, added, total;

  explicit MapSpace(const AttentionProblem& p) {
    columns = Panels::of(p.keys).columns();
    Workspace space;
    panels = space.place(columns * p.width);
    left = space.place(kMapRows * p.width);
    s = space.place(kMapRows * columns);
    added = space.place(columns);
    total = space.size;
  }
};

/// Calls `use(place among the rows asked for, query, products)` for the asked rows begin .. end -
/// 1: the products of a row of `left` with all rows of `right`.
template <typename Problem, typename Use>
inline void row_products(const Problem& p, std::int64_t b, std::int64_t h, std::int64_t begin,
                         std::int64_t end, const void* left, const Strides& left_strides,
                         const void* right, const Strides& right_strides, float* work,
                         const Use& use) {
  const MapSpace space(p);
  Float32::pack_columns(rows_of(right, right_strides, p, b, h, 0, p.keys), work + space.panels);
  const auto query = [&p](std::int64_t r) { return p.rows == nullptr ? r : p.rows[r]; };
  for (; begin < end; begin += kMapRows) {
    const std::int64_t count = smaller(kMapRows, end - begin);
    for (std::int64_t i = 0; i < count; ++i) {
      pack_rows(rows_of(left, left_strides, p, b, h, query(begin + i), 1),
                work + space.left + i * p.width, p.width);
    }
    score<Float32>(work + space.left, p.width, count, work + space.panels, p.width, p.keys,
                   work + space.s, space.columns);
    for (std::int64_t i = 0; i < count; ++i) {
      use(begin + i, query(begin + i), work + space.s + i * space.columns);
    }
  }
}

/// Rows begin .. end - 1 of the map of one head; added to what is there, divided by the number of
/// heads, where their mean is asked for.
inline void map_rows(const MapProblem& p, std::int64_t b, std::int64_t h, std::int64_t begin,
                     std::int64_t end, float* work) {
  const bool masked = needs_mask(p);
  float* added = work + MapSpace(p).added;
  row_products(p, b, h, begin, end, p.q, p.q_strides, p.k, p.k_strides, work,
               [&](std::int64_t r, std::int64_t query, float* s) {
                 if (masked) {
                   added_to_scores(p, b, h, query, {0, p.keys}, added);
                   mask_scores(p.scale, p.keys, added, s);
                 }
                 const float lse = lse_of(p, b, h, query);
                 for (std::int64_t j = 0; j < p.keys; j += kLanes) {
                   store(s + j, probabilities<Float32>(s + j, masked ? 1 : p.scale, lse));
                 }
                 if (p.head_mean) {
                   float* to = p.map + (b * p.row_count + r) * p.keys;
                   const float share = 1 / static_cast<float>(p.heads);
                   for (std::int64_t j = 0; j < p.keys; ++j) to[j] += s[j] * share;
                 } else {
                   float* to = p.map + ((b * p.heads + h) * p.row_count + r) * p.keys;
                   for (std::int64_t j = 0; j < p.keys; ++j) to[j] = s[j];
                 }
               });
}

/// The same of the gradient of the probabilities.
inline void map_gradient_rows(const MapGradientProblem& p, std::int64_t b, std::int64_t h,
                              std::int64_t begin, std::int64_t end, float* work) {
  const bool masked = needs_mask(p);
  float* added = work + MapSpace(p).added;
  row_products(p, b, h, begin, end, p.dout, p.dout_strides, p.v, p.v_strides, work,
               [&](std::int64_t r, std::int64_t query, const float* products) {
                 if (masked) added_to_scores(p, b, h, query, {0, p.keys}, added);
                 float* to = p.gradient + ((b * p.heads + h) * p.row_count + r) * p.keys;
                 for (std::int64_t j = 0; j < p.keys; ++j) {
                   to[j] = masked && added[j] == -kInfinity ? 0 : products[j];
                 }
               });
}

}  // namespace vitascope::kernels::cpu::VITASCOPE_ISA
